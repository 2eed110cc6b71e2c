/** Everything that is wrong with an application, as far as it shows by itself: no cluster is asked. */

import { createHash } from 'node:crypto'
import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { BlockDefinition } from '../blocks/block.ts'
import { importBlueprint } from '../flows/blueprints/blueprint-file.ts'
import { type Compiled, compileCooperatively } from '../flows/compile/compile-blueprint.ts'
import type { Flows } from '../flows/flows.ts'
import type { LiveBlueprints } from '../flows/live/live-blueprints.ts'
import { extensionOf } from '../records/extensions/extension-folder.ts'
import type { ExtensionCatalogue } from '../records/extensions/extensions.ts'
import { documentFieldsSchema, MAX_SAMPLES } from '../shared/api/data/documents.ts'
import {
  APPLICATION_NAME,
  type Application,
  type ApplicationMap,
  shapeProblem,
} from '../shared/application/application.ts'
import { type ApplicationParts, type PartKind, partKinds } from '../shared/application/application-parts.ts'
import type { ImportedBlueprint } from '../shared/application/blueprint-file.ts'
import { clusterMaps } from '../shared/application/cluster-objects.ts'
import type { JsonPath } from '../shared/application/json-places.ts'
import { type Pause, pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../shared/json.ts'
import { type LruCache, lruCache } from '../shared/lru-cache.ts'
import { ENVIRONMENT_NAME, SECRET_NAME } from '../shared/names/stored-names.ts'
import { textProblems } from './application-texts.ts'
import { clusterProblems, clusterSchemas } from './cluster-objects.ts'
import { documentProblems, documentReader, type ReadDocument } from './connection-documents.ts'
import { moreFaults, problemsOfPart, problemsOfSeed, referencesOf, shapeMisfits } from './parts-problems.ts'
import { isVersionFor } from './shared-storages.ts'

/** Where it is: of the map `storages`, in the object `deals`, at `fields.title`. */
export interface ObjectProblem {
  readonly map: ApplicationMap | 'about'
  readonly object: string
  readonly path: JsonPath
  readonly block?: string
  readonly pin?: string
  readonly message: string
  readonly warning?: true
}

export interface CheckParts {
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  /** Without any blueprint: those of the application are put into it, to find two that have the same address. */
  readonly live: LiveBlueprints
  /** Where the documents of connections are used afterwards. */
  readonly read?: ReadDocument
  readonly extensions: UsableExtensions
  /** Where files are checked again and again, most of them as they were. */
  readonly checked?: CheckedFiles | undefined
}

/** A file that compiled: what comes of it follows from its name, its content, and the definitions of its blocks. */
interface CheckedFile {
  readonly imported: ImportedBlueprint
  readonly compiled: Compiled
  /** By type. */
  readonly definitions: ReadonlyMap<string, BlockDefinition | undefined>
}

export type CheckedFiles = LruCache<string, CheckedFile>

/** Blocks: a large application, in 12 MB. */
const MOST_CHECKED = 1_000

export function checkedFiles(): CheckedFiles {
  return lruCache(MOST_CHECKED)
}

export interface UsableExtensions extends Pick<ExtensionCatalogue, 'missing'> {
  readonly versions: ReadonlyMap<string, string>
  /** Of one that is none of these: `which is …`. */
  readonly absence: string
}

/** Those of a cluster. */
export function switchedOn({ extensions }: Pick<Flows, 'extensions'>): UsableExtensions {
  return {
    versions: extensions.switchedOn(),
    missing: (blocks) => extensions.missing(blocks),
    absence: 'is not switched on here: an administrator looks at it and does so',
  }
}

const names = (pattern: string) => Type.Optional(Type.Array(Type.String({ pattern }), { maxItems: 1_000 }))
const closed = { additionalProperties: false }

export const aboutSchema = Type.Object(
  {
    name: Type.String({ pattern: APPLICATION_NAME, description: 'The identity of the application.' }),
    title: Type.Optional(Type.String({ maxLength: 200, description: 'For people.' })),
    version: Type.Optional(Type.String({ maxLength: 100, description: 'Of the application, for people.' })),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    language: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$',
        description: 'Of visitors for whose language there are no texts. Else en, or the first of texts.',
      }),
    ),
    needs: Type.Optional(
      Type.Object(
        {
          quoin: Type.Optional(
            Type.String({ pattern: '^\\d+(?:\\.\\d+){0,2}$', description: 'At least this version.' }),
          ),
          env: names(ENVIRONMENT_NAME),
          secrets: names(SECRET_NAME),
          connections: names(SECRET_NAME),
          extensions: Type.Optional(
            Type.Record(
              Type.String({ pattern: '^[a-z][a-z0-9]{1,29}$' }),
              Type.String({ pattern: '^\\d+(?:\\.\\d+){0,2}$', description: 'At least this version.' }),
              { maxProperties: 100, description: 'Extensions whose blocks it uses, by name.' },
            ),
          ),
        },
        { ...closed, description: 'What a cluster must have.' },
      ),
    ),
    uses: names('^[a-z][a-z0-9_-]{0,62}\\.[a-z][a-z0-9_-]{0,62}$'),
    offers: names('^[a-z][a-z0-9_-]{0,62}$'),
  },
  closed,
)

const seedSchema = Type.Object(
  {
    documents: Type.Array(documentFieldsSchema, { maxItems: MAX_SAMPLES }),
    upsert_by: Type.Optional(Type.String()),
  },
  closed,
)

const checks = new Map<TSchema, ReturnType<typeof Compile>>()

/** What does not fit, with its place. */
function misfits(schema: TSchema, value: JsonValue) {
  const check = checks.get(schema) ?? Compile(schema)
  checks.set(schema, check)
  if (check.Check(value)) return []
  moreFaults()
  return shapeMisfits(schema, check.Errors(value), value)
}

export async function applicationProblems(
  application: Application,
  parts: CheckParts,
): Promise<readonly ObjectProblem[]> {
  const shape = shapeProblem(application)
  if (shape !== undefined) return [{ map: 'about', object: '', path: [], message: shape }]
  const about = misfits(aboutSchema, application.about).map(
    (wrong): ObjectProblem => ({ map: 'about', object: '', ...wrong }),
  )
  return [
    ...(about.length > 0 ? about : extensionProblems(application, parts)),
    ...(await seedProblems(application)),
    ...(await ofParts(application)),
    ...(await ofCluster(application, parts)),
    ...textProblems(application),
    ...(await ofBlueprints(application, parts)),
  ]
}

/** Of `needs.extensions`, and a warning for each extension that is not among them. */
function extensionProblems(
  { about, blueprints }: Application,
  { extensions: { versions, absence } }: CheckParts,
): ObjectProblem[] {
  const needs = isJsonObject(about.needs) ? about.needs : {}
  const named = isJsonObject(needs.extensions) ? needs.extensions : {}
  const at = { map: 'about', object: '' } as const
  const unfit = Object.entries(named).flatMap(([name, least]): ObjectProblem[] => {
    const version = versions.get(name)
    if (version !== undefined && isVersionFor(String(least), version)) return []
    const why = version === undefined ? `which ${absence}` : `and there is ${version}`
    const message = `The application needs the extension ${name} ${String(least)}, ${why}.`
    return [{ ...at, path: ['needs', 'extensions', name], message }]
  })
  const used = new Set([...typesIn({ blueprints })].map(extensionOf))
  const unnamed = [...versions].filter(([name]) => used.has(name) && !Object.hasOwn(named, name))
  const warnings = unnamed.map(([name, version]): ObjectProblem => {
    const message = `The application uses blocks of the extension ${name}. Say so: "needs": { "extensions": { "${name}": "${version}" } }.`
    return { ...at, path: [], message, warning: true }
  })
  return [...unfit, ...warnings]
}

/** The types of all blocks, as the files name them. */
export function typesIn({ blueprints }: Pick<Application, 'blueprints'>): ReadonlySet<string> {
  const files = Object.values(blueprints)
  const blocks = files.flatMap((file) => (isJsonObject(file.blocks) ? Object.values(file.blocks) : []))
  return new Set(blocks.flatMap((block) => (isJsonObject(block) ? [String(block.type)] : [])))
}

async function ofCluster(
  application: Application,
  { read = documentReader() }: CheckParts,
): Promise<readonly ObjectProblem[]> {
  const shapes = clusterMaps.flatMap((map) =>
    Object.entries(application[map]).flatMap(([object, value]) =>
      misfits(clusterSchemas[map], value).map((wrong): ObjectProblem => ({ map, object, ...wrong })),
    ),
  )
  if (shapes.length > 0) return shapes
  return [...clusterProblems(application), ...(await documentProblems(application, read))]
}

async function seedProblems({ seed, storages }: Application): Promise<ObjectProblem[]> {
  const [found, pause]: [ObjectProblem[], Pause] = [[], pauses()]
  for (const [object, documents] of Object.entries(seed)) {
    const wrong = misfits(seedSchema, documents)
    for (const one of wrong) found.push({ map: 'seed', object, ...one })
    if (wrong.length === 0)
      for (const one of await problemsOfSeed(object, documents, storages[object], pause))
        found.push({ map: 'seed', object, ...one })
    await pause()
  }
  return found
}

/** Groups, storages, fields and templates as the API takes them. */
export function partsOfApplication({ groups, storages, templates }: Application): ApplicationParts {
  return {
    groups: Object.entries(groups).map(([name, group]) => ({ name, ...group })),
    storages: Object.entries(storages).map(([name, { fields: _, ...storage }]) => ({ name, ...storage })),
    fields: Object.entries(storages).flatMap(([storage, { fields }]) =>
      isJsonObject(fields)
        ? Object.entries(fields).flatMap(([name, field]) =>
            isJsonObject(field) ? [{ storage, name, ...field }] : [],
          )
        : [],
    ),
    templates: Object.values(templates),
  }
}

async function ofParts(application: Application): Promise<ObjectProblem[]> {
  const parts = partsOfApplication(application)
  const references = referencesOf(parts)
  const [found, pause]: [ObjectProblem[], Pause] = [[], pauses()]
  for (const kind of partKinds)
    for (const part of parts[kind]) {
      await pause()
      const { map, object, path } = placeOfPart(application, kind, part)
      for (const wrong of problemsOfPart(kind, part, references))
        found.push({ map, object, path: [...path, ...wrong.path], message: wrong.message })
    }
  const shapes = Object.entries(application.storages).flatMap(([object, { fields }]): ObjectProblem[] => {
    const all = isJsonObject(fields) ? Object.entries(fields) : []
    if (fields !== undefined && !isJsonObject(fields)) {
      const message = 'fields must be an object with a field by its name.'
      return [{ map: 'storages', object, path: ['fields'], message }]
    }
    return all.flatMap(([name, field]): ObjectProblem[] =>
      isJsonObject(field)
        ? []
        : [{ map: 'storages', object, path: ['fields', name], message: `${name} must be an object.` }],
    )
  })
  return [...shapes, ...found]
}

function placeOfPart(
  { templates }: Application,
  kind: PartKind,
  part: JsonObject,
): Pick<ObjectProblem, 'map' | 'object' | 'path'> {
  const name = String(part.name)
  if (kind === 'fields') return { map: 'storages', object: String(part.storage), path: ['fields', name] }
  if (kind !== 'templates') return { map: kind, object: name, path: [] }
  const [file = name] = Object.entries(templates).find(([, one]) => one === part) ?? []
  return { map: 'templates', object: file, path: [] }
}

async function ofBlueprints(
  { blueprints }: Application,
  parts: CheckParts,
): Promise<readonly ObjectProblem[]> {
  // Each blueprint is compiled with a pause of its own, which a small one does not come to: 990 of them took 0.3 s in one turn.
  const [found, pause]: [ObjectProblem[], Pause] = [[], pauses()]
  for (const [object, file] of Object.entries(blueprints)) {
    await pause()
    found.push(...(await ofBlueprint(object, file, parts)))
  }
  return found
}

/** Parts of a blueprint file that have files of their own in an application. */
const elsewhere = ['groups', 'storages', 'fields', 'templates', 'documents', 'env', 'secrets', 'connections']

async function ofBlueprint(
  object: string,
  file: JsonObject,
  { catalogue, live, extensions, checked }: CheckParts,
): Promise<ObjectProblem[]> {
  const at = { map: 'blueprints', object } as const
  const strays = elsewhere.filter((part) => Object.hasOwn(file, part))
  if (strays.length > 0)
    return strays.map((stray) => ({
      ...{ ...at, path: [stray] },
      message: `${stray} has files of its own in an application: see docs/applications.md.`,
    }))
  const key = checked && digestOfFile(object, file)
  const before = key === undefined ? undefined : knownFile(checked, key, catalogue)
  let imported: ImportedBlueprint
  try {
    // The names of the file serve as guids, so that every message names a block as the file does.
    imported = before?.imported ?? importNamed(file)
  } catch (error) {
    return fileProblemsOf(error).map((problem) => ({ ...at, ...problem }))
  }
  const missing = extensions.missing(imported.blocks)
  // What else the compiler would say is mostly of what is missing.
  const compiled: Compiled =
    missing.length > 0
      ? { blueprint: undefined, problems: missing }
      : (before?.compiled ?? (await compileCooperatively(object, imported.blocks, catalogue)))
  const { blueprint, problems } = compiled
  if (key !== undefined && blueprint && !before) {
    const definitions = new Map(imported.blocks.map(({ type }) => [type, catalogue.get(type)]))
    checked?.set(key, { imported, compiled, definitions }, imported.blocks.length + 1)
  }
  const notes = blueprint?.notes ?? []
  const reported = [
    ...problems.map((problem) => ({ ...problem, refused: true })),
    ...notes.map(({ level: _, refused = false, ...problem }) => ({ ...problem, refused })),
  ].map(({ block, pin, message, refused }) => ({
    ...at,
    path: block === '' ? [] : ['blocks', block, ...(pin === undefined ? [] : pinPath(file, block, pin))],
    ...(block !== '' && { block }),
    ...(pin !== undefined && { pin }),
    message,
    ...(!refused && { warning: true as const }),
  }))
  if (!blueprint) return reported
  try {
    live.checkClaims(blueprint)
    live.set(object, { compiled: blueprint, name: imported.name, deployment: 0 })
    return reported
  } catch (error) {
    return [...reported, { ...at, path: [], message: messageOf(error) }]
  }
}

function digestOfFile(object: string, file: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify([object, file]))
    .digest('base64')
}

/** Undefined where an extension has another version of one of its blocks now. */
function knownFile(
  checked: CheckedFiles | undefined,
  key: string,
  catalogue: CheckParts['catalogue'],
): CheckedFile | undefined {
  const known = checked?.get(key)
  if (!known) return undefined
  return [...known.definitions].every(([type, definition]) => catalogue.get(type) === definition)
    ? known
    : undefined
}

/** The blueprint of a file, with the names of blocks as their guids. */
export function importNamed(file: JsonObject): ImportedBlueprint {
  const ids = isJsonObject(file.blocks) ? Object.keys(file.blocks) : []
  let next = 0
  return importBlueprint(file, () => ids[next++] ?? `note${next}`)
}

/** A pin is among `in`, or is a setting. */
function pinPath(file: JsonObject, name: string, pin: string): string[] {
  const block = isJsonObject(file.blocks) ? memberOf(file.blocks, name) : undefined
  const settings = isJsonObject(block) ? block.fields : undefined
  return [isJsonObject(settings) && Object.hasOwn(settings, pin) ? 'fields' : 'in', pin]
}

/** What an import refuses. The message of an error has the place too, which people may read. */
function fileProblemsOf(error: unknown): readonly Pick<ObjectProblem, 'path' | 'message'>[] {
  if (!(error instanceof QuoinError)) throw error
  const { fields = [], message, reasons = { [fields[0] ?? '']: message } } = error
  return Object.entries(reasons).map(([place, reason]) => ({
    ...{ path: place === '' ? [] : place.split('.'), message: reason },
  }))
}

function messageOf(error: unknown): string {
  if (!(error instanceof QuoinError)) throw error
  return error.message
}
