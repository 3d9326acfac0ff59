/** The anchor of a heading, as GitHub and GitLab compute it: lower case, no punctuation, dashes for spaces. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
