/** The flags of an import of files as what reads them. */
import type { TextDialect } from '../../../shared/fields/value-of-text.ts'
import { readObject } from '../../read-blueprint-file.ts'
import { UsageError } from '../../read-words.ts'
import type { PresentFields, Source } from '../source.ts'
import { openTableFolder } from './table-folder.ts'

interface FileFlags {
  readonly key?: string | undefined
  readonly types?: string | undefined
  readonly decimal?: string | undefined
  readonly dates?: string | undefined
}

/** Throws UsageError for flags that say nothing it knows. */
export function fileSource(
  path: string,
  { key, types, decimal, dates }: FileFlags,
): (present: PresentFields) => Promise<Source> {
  if (decimal !== undefined && decimal !== 'point' && decimal !== 'comma')
    throw new UsageError(`--decimal is point or comma, not ${JSON.stringify(decimal)}.`)
  if (dates !== undefined && dates !== 'dmy' && dates !== 'mdy' && dates !== 'ymd')
    throw new UsageError(`--dates is dmy, mdy or ymd, not ${JSON.stringify(dates)}.`)
  const dialect: TextDialect = { ...(decimal && { decimal }), ...(dates && { dates }) }
  const reading = { dialect, keys: textsOf('key', key), types: withoutNull(textsOf('types', types)) }
  return (present) => openTableFolder(path, reading, present)
}

function textsOf(flag: string, json: string | undefined): Readonly<Record<string, string | null>> {
  const texts: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(readObject(flag, json))) {
    if (value !== null && typeof value !== 'string')
      throw new UsageError(`--${flag} must be a JSON object of texts; ${JSON.stringify(name)} is none.`)
    texts[name] = value
  }
  return texts
}

function withoutNull(texts: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      if (text === null) throw new UsageError(`--types has no type for ${JSON.stringify(name)}.`)
      return [name, text]
    }),
  )
}
