/**
 * RFC 4180. Text that a spreadsheet would take for a formula gets a mark in front that makes it text: the author of
 * the document and the reader of the file may be different users.
 */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) && !/^[+-]?\d+(?:\.\d+)?$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
