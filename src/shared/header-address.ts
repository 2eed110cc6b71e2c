/**
 * An address as a header can carry it: what is no printable ASCII as percent-encoded UTF-8. Escapes that are there stay.
 * Node refuses to write characters beyond Latin-1, and such as it writes would arrive as others.
 */
export function headerAddress(address: string): string {
  return address.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
