/** The id of the element of a line. */
export function lineId(resource: number, line: number): string {
  return `line-${resource}-${line}`;
}

/** Scrolls to a line and focuses it. */
export function goToLine(resource: number, line: number): void {
  const element = document.getElementById(lineId(resource, line));
  element?.scrollIntoView({ block: 'center' });
  element?.focus({ preventScroll: true });
}
