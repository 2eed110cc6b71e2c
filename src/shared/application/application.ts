/**
 * An application as one plain value: what a folder holds, what a push sends, and what a release keeps. Names are the identity of
 * everything in it, and there are no guids.
 *
 * Of equal applications the values are equal: keys are in a fixed order, maps are sorted, and what is at its default is left out.
 * `normalApplication` makes it so.
 */
import { atOnce, type Steps } from '../cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue, namedObject } from '../json.ts'
import { partOf } from './application-parts.ts'
import { clusterMaps, isOneFileMap, normalClusterObject } from './cluster-objects.ts'

/** Maps of an application, each in a folder or file of its own. */
const applicationMaps = [
  ...(['blueprints', 'storages', 'groups', 'templates', 'texts'] as const),
  ...clusterMaps,
  ...(['seed', 'tests'] as const),
] as const
export type ApplicationMap = (typeof applicationMaps)[number]

/** By name. */
export type NamedObjects = Readonly<Record<string, JsonObject>>

export interface Application extends Readonly<Record<ApplicationMap, NamedObjects>> {
  /**
   * What `quoin.json` says: `name`, `title`, `version`, `description`, `language` (of texts without a translation), `needs` (`{ quoin, env, secrets, connections }`: what a cluster must
   * have), `uses` (storages of other applications, such as `crm.customers`) and `offers` (storages that others may use).
   */
  readonly about: JsonObject
}

/** Of an application, and of what is a file: the same on every disk, whatever it makes of case and composition. */
export const APPLICATION_NAME = '^[a-z][a-z0-9_-]{0,62}$'
export const OBJECT_FILE = '^[a-z0-9][a-z0-9_-]{0,99}$'

/** Of one map. */
export const MOST_OBJECTS = 1_000

/** Of all its storages. The check of a push of so many takes a second, in turns. */
const MOST_FIELDS = 2_000

/**
 * What keeps an application from being read at all: more than it may hold, or a name that is no name of a file. Looked at before
 * anything else: all of it would be read, and a pull would write files by these names.
 */
export function shapeProblem(input: { readonly [K in ApplicationMap]?: JsonValue }): string | undefined {
  let fields = 0
  for (const map of applicationMaps) {
    const objects = Object.entries(isJsonObject(input[map]) ? input[map] : {})
    if (objects.length > MOST_OBJECTS)
      return `The application has more than ${MOST_OBJECTS.toLocaleString('en')} ${map}. Split it.`
    for (const [name, object] of objects) {
      if (!isNameIn(map, name)) return `${map} has the name ${shortened(name)}, which it cannot have.`
      if (!isJsonObject(object)) return `${map}.${shortened(name)} must be an object.`
      if (map === 'storages' && isJsonObject(object.fields)) fields += Object.keys(object.fields).length
    }
  }
  if (fields <= MOST_FIELDS) return undefined
  return `The storages of the application have more than ${MOST_FIELDS.toLocaleString('en')} fields. Split it.`
}

/** No map has a name that every object of JavaScript has. */
function isNameIn(map: ApplicationMap, name: string): boolean {
  return !(name in {}) && (isOneFileMap(map) || new RegExp(OBJECT_FILE).test(name))
}

function shortened(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

const aboutKeys = [
  ...(['name', 'title', 'version', 'description', 'language', 'needs', 'uses', 'offers'] as const),
] as const
const needsKeys = ['quoin', 'env', 'secrets', 'connections'] as const
const blueprintKeys = ['name', 'description', 'category', 'tags', 'blocks', 'notes', 'layout'] as const
const blockKeys = ['type', 'title', 'description', 'in', 'out', 'fields', 'scopes'] as const
const storageKeys = ['description', 'history', 'closed', 'rules', 'constraints', 'fields'] as const
const fieldKeys = [
  ...(['was', 'convert', 'fill', 'type', 'label', 'help', 'description', 'required', 'unique'] as const),
  'reference',
] as const
const groupKeys = ['description', 'scopes'] as const
const templateKeys = ['name', 'description', 'content', 'css', 'js'] as const
const seedKeys = ['upsert_by', 'documents'] as const
const testKeys = ['name', 'given', 'steps'] as const

/** The same application with everything in its order and nothing at its default. What is unknown stays, for a check to refuse. */
export function normalApplication(input: JsonObject): Application {
  return atOnce(normalSteps(input))
}

/** The same, in steps: 4 MiB of names take a second. */
export function* normalSteps(input: JsonObject): Steps<Application> {
  const map = (name: ApplicationMap) => sortedObjects(input[name], (object) => normalObject(name, object))
  const { needs, ...about } = isJsonObject(input.about) ? input.about : {}
  const ordered =
    needs !== undefined && (isJsonObject(needs) ? inOrder(withoutEmpty(needs), needsKeys) : needs)
  return {
    about: inOrder(withoutEmpty({ ...about, ...(ordered !== false && { needs: ordered }) }), aboutKeys),
    blueprints: yield* map('blueprints'),
    storages: yield* map('storages'),
    groups: yield* map('groups'),
    templates: yield* map('templates'),
    texts: yield* map('texts'),
    connections: yield* map('connections'),
    alerts: yield* map('alerts'),
    views: yield* map('views'),
    queues: yield* map('queues'),
    seed: yield* map('seed'),
    tests: yield* map('tests'),
  }
}

export function nameOfApplication({ about }: Application): string {
  return typeof about.name === 'string' ? about.name : ''
}

function* normalObject(map: ApplicationMap, object: JsonObject): Steps<JsonObject> {
  switch (map) {
    case 'blueprints':
      return yield* normalBlueprint(object)
    case 'storages':
      return yield* normalStorage(object)
    case 'groups':
      return inOrder(partOf('groups', object), groupKeys)
    case 'templates':
      return inOrder(partOf('templates', object), templateKeys)
    case 'connections':
    case 'alerts':
    case 'views':
    case 'queues':
      return normalClusterObject(map, object)
    case 'texts': {
      const texts = yield* sorted(object)
      return isJsonObject(texts) ? texts : object
    }
    case 'seed':
      return inOrder(object, seedKeys)
    case 'tests':
      return inOrder(object, testKeys)
  }
}

function* normalBlueprint(file: JsonObject): Steps<JsonObject> {
  const { blocks = {}, layout, ...rest } = file
  const normal = yield* sorted(blocks, normalBlock)
  return inOrder(
    {
      ...withoutEmpty({ ...rest, ...(layout !== undefined && { layout: yield* sorted(layout) }) }),
      blocks: normal,
    },
    blueprintKeys,
  )
}

function* normalBlock(block: JsonObject): Steps<JsonObject> {
  const { in: pins, ...rest } = block
  const input = pins !== undefined && { in: yield* sorted(pins) }
  return inOrder(withoutEmpty({ ...rest, ...input }), blockKeys)
}

function* normalStorage(storage: JsonObject): Steps<JsonObject> {
  const { fields, ...settings } = storage
  const normal = {
    ...partOf('storages', settings),
    ...(fields !== undefined && { fields: yield* sorted(fields, normalField) }),
  }
  return inOrder(withoutEmpty(normal), storageKeys)
}

function* normalField(field: JsonObject): Steps<JsonObject> {
  yield
  // The cluster makes numbers unique by itself.
  const { unique, ...rest } = partOf('fields', field)
  const input = unique === undefined || (rest.type === 'autonumber' && unique === true) ? {} : { unique }
  return inOrder({ ...rest, ...input }, fieldKeys)
}

/** Names that are put in order: with more, a check refuses it anyway, and to order 25,000 takes 70 ms. */
const MOST_ORDERED = 1_000

/** Known keys first, in their order; the others behind them, sorted. */
function inOrder(object: JsonObject, keys: readonly string[]): JsonObject {
  const names = Object.keys(object)
  if (names.length > MOST_ORDERED) return object
  const known = keys.filter((key) => object[key] !== undefined)
  const others = names.filter((key) => !keys.includes(key)).sort()
  return Object.fromEntries([...known, ...others].map((key) => [key, object[key] ?? null]))
}

/** Parts between two steps. */
const STEP = 64

/** Sorted by name. What is no object stays, for a check to refuse. */
function* sorted(map: JsonValue, normal?: (object: JsonObject) => Steps<JsonObject>): Steps<JsonValue> {
  if (!isJsonObject(map)) return map
  const entries: [string, JsonValue][] = []
  for (const name of Object.keys(map).sort()) {
    const part = map[name] ?? null
    entries.push([name, normal && isJsonObject(part) ? yield* normal(part) : part])
    if (entries.length % STEP === 0) yield
  }
  yield
  return namedObject(entries)
}

function* sortedObjects(
  map: JsonValue | undefined,
  normal: (object: JsonObject) => Steps<JsonObject>,
): Steps<NamedObjects> {
  const objects: [string, JsonObject][] = []
  for (const [name, part] of Object.entries(isJsonObject(map) ? map : {})) {
    yield
    if (isJsonObject(part)) objects.push([name, yield* normal(part)])
  }
  return namedObject(objects.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Without texts, lists and objects that are empty: they are the defaults of what a file may leave out. */
function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: JsonValue): boolean {
  if (value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}
