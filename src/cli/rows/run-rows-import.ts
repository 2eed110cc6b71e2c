import { open } from 'node:fs/promises'
import { typeOfFile } from '../../shared/files/type-of-file.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { Refused, recordsOf } from '../management.ts'
import { withManagement } from '../open-management.ts'

interface RowsFile {
  readonly storage: string
  readonly file: string
  readonly url: string | undefined
  readonly skip: boolean
  readonly mapping?: string | undefined
  readonly decimal?: string | undefined
  readonly dates?: string | undefined
  readonly separator?: string | undefined
  readonly formats?: string | undefined
  readonly sheet?: string | undefined
  readonly header?: string | undefined
}

/** What `quoin rows import` does. Gives its exit code. */
export async function runRowsImport(
  { storage, file, url, skip, ...reading }: RowsFile,
  terminal: Terminal,
): Promise<number> {
  const query = new URLSearchParams(skip ? { skip_invalid: 'true' } : {})
  for (const [name, value] of Object.entries(reading)) if (value !== undefined) query.set(name, value)
  const path = `/_system/storages/${encodeURIComponent(storage)}/documents/import?${query}`
  const handle = await open(file).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`There is no file ${file}.`) : error
  })
  try {
    const imported = await withManagement(terminal, url, (management) =>
      management.upload(path, { type: typeOfFile(file), body: handle.createReadStream() }),
    )
    return report(imported, terminal)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 404) throw new Error(`There is no storage ${JSON.stringify(storage)}.`)
    complainOf(error.details.lines, terminal)
    throw error
  } finally {
    await handle.close()
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function report(imported: JsonValue, { print, complain }: Terminal): number {
  const { imported: count, refused = 0, problems } = isJsonObject(imported) ? imported : {}
  complainOf(problems, { complain })
  print(`Imported ${documents(Number(count))}.`)
  if (Number(refused) > 0) complain(`Left out ${lines(Number(refused))}, of which at most 100 are listed.`)
  return 0
}

/** `line 3: age: The value of Age is not a number.` */
function complainOf(problems: JsonValue | undefined, { complain }: Pick<Terminal, 'complain'>): void {
  for (const { line, fields, message } of recordsOf(problems ?? [])) {
    const named = Array.isArray(fields) && fields.length > 0 ? `${fields.join(', ')}: ` : ''
    complain(`line ${line}: ${named}${message}`)
  }
}

function documents(count: number): string {
  return count === 1 ? '1 document' : `${count.toLocaleString('en-US')} documents`
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count.toLocaleString('en-US')} lines`
}
