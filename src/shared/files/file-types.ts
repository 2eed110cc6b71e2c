/** Types that a browser shows and cannot run; everything else is offered for saving. PDF is not among them: it has scripts. */
const SHOWN =
  /^(?:image\/(?!svg)[a-z0-9.+-]+|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|font\/[a-z0-9.+-]+|text\/(?:plain|css|csv)|application\/json)$/

/** Whether a browser can show files of this media type, and runs nothing of them. */
export function isShown(type: string): boolean {
  return SHOWN.test(type)
}

/** The header `content-disposition` of a file: shown where that is safe and `saved` is not true, else saved under its name. */
export function contentDisposition(
  { name, type }: { readonly name: string; readonly type: string },
  saved = false,
): string {
  const kind = !saved && isShown(type) ? 'inline' : 'attachment'
  const plain = name.replace(/[^\x20-\x7e]|["\\%/]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** Media types of files of documents. */
export const NDJSON = 'application/x-ndjson'
export const CSV = 'text/csv'
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** The media type of a file of documents, by its name. NDJSON unless the name says otherwise. */
export function typeOfFile(name: string): string {
  if (/\.xlsx$/i.test(name)) return XLSX
  return /\.(?:csv|tsv|txt)$/i.test(name) ? CSV : NDJSON
}
