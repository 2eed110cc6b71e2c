import { CSV, NDJSON, XLSX } from './table-types.ts'

/** The media type of a file of documents, by its name. NDJSON unless the name says otherwise. */
export function typeOfFile(name: string): string {
  if (/\.xlsx$/i.test(name)) return XLSX
  return /\.(?:csv|tsv|txt)$/i.test(name) ? CSV : NDJSON
}
