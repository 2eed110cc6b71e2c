/**
 * Example applications: each a folder in `examples/` with an `example.json`, which names its blueprints (in the order in
 * which they are installed), groups, fields, page templates and sample documents.
 */
import { access as canAccess, readdir, readFile } from 'node:fs/promises'
import type { FieldInput } from '../records/fields/field-records.ts'
import type { JsonObject } from '../shared/json.ts'
import { UsageError } from './read-words.ts'

export interface Example {
  readonly title: string
  /** Path of the first page. */
  readonly pages: string
  readonly groups: readonly {
    readonly name: string
    readonly description: string
    readonly scopes: string[]
  }[]
  readonly fields: readonly FieldInput[]
  readonly templates: readonly {
    readonly name: string
    readonly description: string
    readonly content: JsonObject
  }[]
  readonly blueprints: readonly { readonly name: string }[]
  /** By storage. */
  readonly documents: ReadonlyMap<string, readonly JsonObject[]>
}

const folder = new URL('../../examples/', import.meta.url)

async function exampleNames(): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const there = await Promise.all(names.map((name) => exists(new URL(`${name}/example.json`, folder))))
  return names.filter((_name, place) => there[place]).sort()
}

/** Throws UsageError, with the names that there are, for one that there is not. */
export async function readExample(name: string): Promise<Example> {
  const names = await exampleNames()
  if (!names.includes(name))
    throw new UsageError(`There is no example ${JSON.stringify(name)}; choose one of: ${names.join(', ')}.`)
  const place = new URL(`${name}/`, folder)
  const text = (file: string) => readFile(new URL(file, place), 'utf8')
  // The files are part of the program, and a test installs them: their shape is known.
  const { blueprints, documents, ...rest } = JSON.parse(await text('example.json')) as Omit<
    Example,
    'blueprints' | 'documents'
  > & { blueprints: string[]; documents: { storage: string; file: string }[] }
  const read = documents.map(async ({ storage, file }) => [storage, linesOf(await text(file))] as const)
  return {
    ...rest,
    blueprints: await Promise.all(
      blueprints.map(async (file) => JSON.parse(await text(`${file}.blueprint.json`))),
    ),
    documents: new Map(await Promise.all(read)),
  }
}

function linesOf(ndjson: string): readonly JsonObject[] {
  return ndjson
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

function exists(place: URL): Promise<boolean> {
  return canAccess(place).then(
    () => true,
    () => false,
  )
}
