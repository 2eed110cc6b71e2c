/**
 * The files of an application, and back:
 *
 *   quoin.json                  name, title, version, what it needs, uses and offers
 *   blueprints/deals.json       a blueprint as `blueprint-file.ts` has it, without its parts
 *   storages/deals.json         { "history": true, "rules": {…}, "fields": { "title": { "type": "string" } } }
 *   groups.json                 { "groups": { "Sales": { "scopes": ["crm_read"] } } }; so connections, alerts, views and queues
 *   connections/shop.openapi.json  the OpenAPI document of a connection, as it was sent
 *   templates/office.json       { "name": "Office", "content": {…} }, beside office.css and office.js
 *   texts/en.json               { "deals.title": "Deals" }: texts of a language by key
 *   seed/stages.ndjson          a document a line; before them perhaps { "$upsert_by": "code" }
 *   tests/large-order.test.json as docs/tests.md has it
 *   tests/orders.ndjson         cases of an evaluation, as they were written
 *
 * Written files are the same byte for byte for the same application, and a folder that is read and written again is so too.
 */
import { atOnce, type Steps } from '../cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf, namedObject } from '../json.ts'
import { normalizedText } from '../texts/normalized-text.ts'
import {
  type Application,
  type ApplicationMap,
  MOST_OBJECTS,
  normalSteps,
  OBJECT_FILE,
} from './application.ts'
import { canonicalSteps } from './canonical-json.ts'
import { isOneFileMap, oneFileMaps } from './cluster-objects.ts'
import { type JsonPath, type Place, placedJsonSteps, readPlacedJson } from './json-places.ts'

/** Texts by path, with `/` between folders. */
export type Files = ReadonlyMap<string, string>

export interface FileProblem extends Place {
  readonly file: string
  /** Of a blueprint. */
  readonly block?: string
  readonly pin?: string
  readonly message: string
  /** Does not keep the application from running. */
  readonly warning?: true
}

export interface ReadApplication {
  readonly application: Application
  readonly problems: readonly FileProblem[]
  /** Where a part of an object stands: of the object `deals` of `storages`, the part `fields.title`. */
  readonly placeOf: (
    map: ApplicationMap | 'about',
    name: string,
    path?: JsonPath,
  ) => Pick<FileProblem, 'file' | 'line' | 'column'>
}

/** The address of the schema by which an editor completes a file: that of a server on this machine with its usual port. */
const schemaOf = (kind: string) => `http://127.0.0.1:8080/api/v1/schemas/${kind}.json`

const ABOUT = 'quoin.json'
const DOCUMENT = '.openapi.json'
const LINES = '.ndjson'
/** Of the cases of one file that are pushed: a push takes 4 MiB. */
const MOST_OF_CASES = 1024 * 1024
/** The one name of a first line that is no document: it has the field by which documents are found again. */
const UPSERT_BY = '$upsert_by'

export function filesOf(application: Application): Files {
  return atOnce(writingSteps(application))
}

/** The same, in steps. */
export function* writingSteps(application: Application): Steps<Files> {
  const { about, blueprints, storages, templates, texts, seed, tests } = application
  const files = new Map<string, string>()
  const write = function* (path: string, kind: string, value: JsonObject, opened: number): Steps<void> {
    files.set(path, yield* canonicalSteps({ $schema: schemaOf(kind), ...value }, opened))
  }
  yield* write(ABOUT, 'application', about, 1)
  // Each block, place, note and field has lines of its own.
  for (const [name, value] of Object.entries(blueprints))
    yield* write(`blueprints/${name}.json`, 'blueprint', value, 2)
  for (const [name, value] of Object.entries(storages))
    yield* write(`storages/${name}.json`, 'storage', value, 2)
  for (const map of oneFileMaps) {
    const objects = Object.entries(application[map])
    const own = map === 'connections' ? objects.map(withoutDocument) : objects
    if (objects.length > 0) yield* write(`${map}.json`, map, { [map]: namedObject(own) }, 2)
  }
  for (const [name, { document }] of Object.entries(application.connections))
    if (typeof document === 'string') files.set(`connections/${name}${DOCUMENT}`, document)
  for (const [name, { css, js, ...value }] of Object.entries(templates)) {
    yield* write(`templates/${name}.json`, 'template', value, 1)
    if (typeof css === 'string') files.set(`templates/${name}.css`, css)
    if (typeof js === 'string') files.set(`templates/${name}.js`, js)
  }
  for (const [name, value] of Object.entries(texts)) yield* write(`texts/${name}.json`, 'texts', value, 1)
  for (const [name, { documents, upsert_by: key }] of Object.entries(seed))
    if (Array.isArray(documents)) {
      const lines: string[] = key === undefined ? [] : [`${JSON.stringify({ [UPSERT_BY]: key })}\n`]
      for (const one of documents) {
        lines.push(`${JSON.stringify(one)}\n`)
        yield
      }
      files.set(`seed/${name}.ndjson`, lines.join(''))
    }
  for (const [name, object] of Object.entries(tests)) {
    const { cases, test } = testAndCases(object)
    if (test) yield* write(`tests/${name}.test.json`, 'test', test, 1)
    if (cases !== undefined) files.set(`tests/${name}${LINES}`, cases)
  }
  return files
}

function withoutDocument([name, { document: _, ...connection }]: [string, JsonObject]): [string, JsonObject] {
  return [name, connection]
}

/** What is in two files of one name: a test, and cases of this or another one. */
export function testAndCases({ ndjson, ...test }: JsonObject): {
  readonly cases: string | undefined
  readonly test: JsonObject | undefined
} {
  if (typeof ndjson !== 'string')
    return { cases: undefined, test: ndjson === undefined ? test : { ...test, ndjson } }
  return { cases: ndjson, test: Object.keys(test).length > 0 ? test : undefined }
}

/** Cases of an evaluation that are too long for a push: the file stays in its folder. */
export function isLeftInFolder(path: string, { length }: string): boolean {
  return path.startsWith('tests/') && path.endsWith(LINES) && length > MOST_OF_CASES
}

/** At the top of a folder, besides the files of an application: what people and their tools keep there. */
export function isBesideApplication(name: string): boolean {
  return /^(?:\.|node_modules$|extensions$|LICENSE|.*\.(?:md|yml|yaml|sh|txt)$)/.test(name)
}

/** What is in the folders of an application, by the end of its name. */
const folders = namedObject<readonly string[]>(
  Object.entries({
    blueprints: ['.json'],
    storages: ['.json'],
    connections: [DOCUMENT],
    templates: ['.json', '.css', '.js'],
    texts: ['.json'],
    seed: [LINES],
    tests: ['.test.json', LINES],
  }),
)

/** Never throws: whatever is wrong with the files is a problem of one of them. */
export function applicationOf(files: Files): ReadApplication {
  return atOnce(readingSteps(files))
}

/** The same, in steps of one file or line: files of 4 MiB with an error in each line took 4 s. */
export function* readingSteps(files: Files): Steps<ReadApplication> {
  const reader = new FileReader()
  for (const [path, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield
    yield* reader.read(path, text)
  }
  return yield* reader.finished()
}

/** What is listed of all files: those who mend them begin with the first. */
const MOST_PROBLEMS = 1_000
/** Of a file with first documents, which are fewer: blank lines count. */
const MOST_LINES = 4_000

class FileReader {
  readonly #problems: FileProblem[] = []
  readonly #places = new Map<string, (path: JsonPath) => Place>()
  readonly #maps: Record<ApplicationMap, Record<string, JsonObject>> = {
    ...{ blueprints: namedObject([]), storages: namedObject([]), groups: namedObject([]) },
    ...{ templates: namedObject([]), texts: namedObject([]), seed: namedObject([]), tests: namedObject([]) },
    ...{ connections: namedObject([]), alerts: namedObject([]), views: namedObject([]) },
    queues: namedObject([]),
  }
  #about: JsonObject = {};

  *read(path: string, text: string): Steps<void> {
    const [folder = '', name = '', deeper] = path.split('/')
    if (path === ABOUT) this.#about = (yield* this.#json(path, text)) ?? {}
    else if (path.endsWith('.json') && isOneFileMap(path.slice(0, -5))) yield* this.#readMap(path, text)
    else if (isLeftInFolder(path, text)) return
    else if (folders[folder] !== undefined && name !== '' && deeper === undefined)
      yield* this.#readObject(folder, name, text)
    else this.#problem(path, 'Quoin knows no such file in an application. Move it elsewhere, or rename it.')
  }

  *finished(): Steps<ReadApplication> {
    if (!this.#places.has(ABOUT)) this.#problem(ABOUT, 'is missing. It needs at least { "name": "…" }.')
    for (const [map, objects] of Object.entries(this.#maps)) {
      if (Object.keys(objects).length > MOST_OBJECTS)
        this.#problem(map, `has more than ${MOST_OBJECTS} of a kind. Split the application.`)
    }
    for (const name of Object.keys(this.#maps.templates))
      if (!this.#places.has(`templates/${name}.json`))
        this.#problem(`templates/${name}.json`, 'is missing: it has the name of the template.')
    this.#refuseAlike()
    return {
      application: yield* normalSteps({ about: this.#about, ...this.#maps }),
      problems: this.#problems.slice(0, MOST_PROBLEMS),
      placeOf: (map, name, path = []) => {
        const file = fileOf(map, name, path)
        const inFile = isOneFileMap(map) ? [map, name, ...path] : path
        return { file, ...(this.#places.get(file)?.(inFile) ?? { line: 1, column: 1 }) }
      },
    }
  }

  *#readObject(folder: string, file: string, text: string): Steps<void> {
    const end = folders[folder]?.find((one) => file.endsWith(one))
    const name = file.slice(0, -(end ?? '').length)
    const path = `${folder}/${file}`
    if (end === undefined || !new RegExp(OBJECT_FILE).test(name)) {
      const ends = folders[folder]?.join(' or ')
      this.#problem(path, `the name must be lower-case letters a–z, digits, _ and -, and end with ${ends}.`)
      return
    }
    if (end === DOCUMENT) this.#readDocument(path, name, text)
    else if (folder === 'seed') this.#maps.seed[name] = yield* this.#readLines(path, text)
    else if (end === LINES) this.#maps.tests[name] = { ...this.#maps.tests[name], ndjson: text }
    else if (end === '.css' || end === '.js')
      this.#maps.templates[name] = { ...this.#maps.templates[name], [end.slice(1)]: text }
    else {
      const map = mapOf(folder)
      const value = yield* this.#json(path, text)
      if (map === 'tests' && value?.ndjson !== undefined)
        this.#problem(path, `ndjson is a file of its own: tests/${name}${LINES}.`, ['ndjson'])
      else if (map && value) this.#maps[map][name] = { ...this.#maps[map][name], ...value }
    }
  }

  /** Behind `connections.json`, which is before it in the order of names. */
  #readDocument(path: string, name: string, text: string): void {
    const connection = memberOf(this.#maps.connections, name)
    if (!connection) this.#problem(path, `connections.json has no connection ${JSON.stringify(name)}.`)
    else if (text === '') this.#problem(path, 'is empty. It must be an OpenAPI document.')
    else {
      this.#places.set(path, () => ({ line: 1, column: 1 }))
      this.#maps.connections[name] = { ...connection, document: text }
    }
  }

  *#readMap(path: string, text: string): Steps<void> {
    const map = path.slice(0, -5)
    if (!isOneFileMap(map)) return
    const { [map]: objects = {}, ...others } = (yield* this.#json(path, text)) ?? {}
    for (const other of Object.keys(others))
      this.#problem(path, `has ${JSON.stringify(other)}; its one part is "${map}".`, [other])
    const noun = map.slice(0, -1)
    if (!isJsonObject(objects)) this.#problem(path, `"${map}" must be an object with a ${noun} by its name.`)
    else
      for (const [name, object] of Object.entries(objects))
        if (map === 'connections' && isJsonObject(object) && Object.hasOwn(object, 'document'))
          this.#problem(path, `document is a file of its own: connections/${name}${DOCUMENT}.`, [map, name])
        else if (isJsonObject(object)) this.#maps[map][name] = object
        else this.#problem(path, `the ${noun} ${JSON.stringify(name)} must be an object.`, [map, name])
  }

  *#readLines(path: string, text: string): Steps<JsonObject> {
    const documents: JsonValue[] = []
    const lineOf: number[] = []
    const lines = text.split('\n', MOST_LINES + 1)
    if (lines.length > MOST_LINES)
      this.#problem(path, `has more than ${MOST_LINES} lines. Import documents instead.`)
    for (const [at, line] of lines.entries()) {
      if (line.trim() === '') continue
      if (this.#problems.length >= MOST_PROBLEMS) break
      yield
      const { value, problems } = yield* placedJsonSteps(line)
      for (const { message, column } of problems)
        this.#problems.push({ file: path, line: at + 1, column, message })
      if (isJsonObject(value)) {
        documents.push(value)
        lineOf.push(at)
      } else if (value !== undefined)
        this.#problems.push({
          file: path,
          line: at + 1,
          column: 1,
          message: 'a line must be a document: { … }.',
        })
    }
    const [first, ...others] = documents
    const isKey = isJsonObject(first) && Object.keys(first).join() === UPSERT_BY
    this.#places.set(path, ([, index, ...inside]) => {
      const at = typeof index === 'number' ? lineOf[index + (isKey ? 1 : 0)] : undefined
      if (at === undefined) return { line: 1, column: 1 }
      return { line: at + 1, column: readPlacedJson(lines[at] ?? '').placeOf(inside).column }
    })
    return isKey ? { upsert_by: first[UPSERT_BY] ?? null, documents: others } : { documents }
  }

  *#json(path: string, text: string): Steps<JsonObject | undefined> {
    const { value, problems, placeOf } = yield* placedJsonSteps(text)
    this.#places.set(path, placeOf)
    this.#problems.push(...problems.map((problem) => ({ file: path, ...problem })))
    if (value === undefined) return undefined
    if (!isJsonObject(value)) {
      this.#problem(path, 'must be an object: { … }.')
      return undefined
    }
    const { $schema: _, ...rest } = value
    return rest
  }

  /** Groups, templates and blueprints have names that people write; two that look alike are a mistake. */
  #refuseAlike(): void {
    const { groups, templates, blueprints } = this.#maps
    this.#alike(
      'groups',
      Object.keys(groups).map((name) => [name, name]),
    )
    for (const [map, objects] of [
      ['templates', templates],
      ['blueprints', blueprints],
    ] as const)
      this.#alike(
        map,
        Object.entries(objects).map(([file, { name }]) => [file, String(name)]),
      )
  }

  #alike(map: ApplicationMap, named: readonly (readonly [object: string, name: string])[]): void {
    const seen = new Map<string, string>()
    for (const [object, name] of named) {
      const key = normalizedText(name, 'NFKC').toLowerCase()
      const other = seen.get(key)
      if (other === undefined) seen.set(key, object)
      else
        this.#problem(
          fileOf(map, object, []),
          `the name ${JSON.stringify(name)} differs only in case or composition from that of ${JSON.stringify(other)}.`,
          map === 'groups' ? ['groups', object] : ['name'],
        )
    }
  }

  #problem(file: string, message: string, path: JsonPath = []): void {
    const place = this.#places.get(file)?.(path) ?? { line: 1, column: 1 }
    this.#problems.push({ file, ...place, message })
  }
}

function mapOf(folder: string): ApplicationMap | undefined {
  return (['blueprints', 'storages', 'templates', 'texts', 'tests'] as const).find((map) => map === folder)
}

function fileOf(map: ApplicationMap | 'about', name: string, [part]: JsonPath): string {
  if (map === 'about') return ABOUT
  if (map === 'connections' && part === 'document') return `connections/${name}${DOCUMENT}`
  if (isOneFileMap(map)) return `${map}.json`
  if (map === 'seed') return `seed/${name}.ndjson`
  if (map === 'tests') return `tests/${name}.test.json`
  if (map === 'templates' && (part === 'css' || part === 'js')) return `templates/${name}.${part}`
  return `${map}/${name}.json`
}
