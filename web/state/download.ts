/** Offers a file to save. */
export function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  // After the browser has started to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
