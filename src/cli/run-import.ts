import { setTimeout } from 'node:timers/promises'
import { environmentNames } from '../expressions/language/environment/environment-names.ts'
import { documentsOfFile, importBlueprint, partsOfFile } from '../flows/blueprints/blueprint-file.ts'
import type { ApplicationParts } from '../shared/application/application-parts.ts'
import type { ImportedBlueprint } from '../shared/application/blueprint-file.ts'
import { installParts, type PartsApi } from '../shared/application/install-parts.ts'
import { connectionNamesOf, secretNamesOf } from '../shared/application/names-in-pins.ts'
import { type Block, blockContent } from '../shared/blueprint.ts'
import { type Problem, problemLine } from '../shared/errors.ts'
import { guidSource } from '../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { activateBlueprint } from './activate-blueprint.ts'
import { type BlueprintFindings, blueprintProblems } from './blueprint-problems.ts'
import type { Terminal } from './command.ts'
import { connectionKind } from './connections/connection-commands.ts'
import { valueKind } from './environment/env-commands.ts'
import { guidOf, type Management, partsApi, Refused, recordsOf, warningsIn } from './management.ts'
import { warnOfMissing } from './named-records.ts'
import { withManagement } from './open-management.ts'
import { readBlueprintFile } from './read-blueprint-file.ts'
import { secretKind } from './secrets/secret-commands.ts'

/** In one request. It may hold 2,000, and 1 MiB unless QUOIN_BODY_LIMIT says otherwise. */
const EDITS = 500
const BYTES = 512 * 1024

/**
 * Makes an existing blueprint what a file says, and saves it: blocks of the same name keep their guids, so that versions,
 * runs and logs still speak of the same blocks; the others are added or removed.
 */
async function replaceBlueprint(
  management: Management,
  guid: string,
  imported: ImportedBlueprint,
): Promise<void> {
  const { name, description, category, tags, notes } = imported
  const known = recordsOf(await management.call('GET', `/blueprints/${guid}/blocks`))
  const staged = new Map<string, JsonObject | undefined>()
  try {
    await stageEdits(management, guid, editsFor(known, imported.blocks), staged)
    await saveStaged(management, guid)
  } catch (error) {
    // Where this fails too, the first error is the one to tell.
    await stageEdits(management, guid, formerEdits(known, staged)).catch(() => undefined)
    throw error
  }
  const about = { name, description, category, tags: [...tags], notes: notes.map((note) => ({ ...note })) }
  await management.call('PUT', `/blueprints/${guid}`, about)
}

/** Makes the blocks of a file in a blueprint that has none, and saves them. */
async function makeBlocks(management: Management, guid: string, blocks: readonly Block[]): Promise<void> {
  await stageEdits(management, guid, editsFor([], blocks))
  await saveStaged(management, guid)
}

async function saveStaged(management: Management, guid: string): Promise<void> {
  await management.call('POST', `/blueprintactions/unsaved/${guid}`)
}

interface Edit {
  readonly guid: string
  readonly update_hash: string | null
  readonly content: JsonObject | null
}

/** `staged`: gets the blocks that were changed, as they are then; undefined for those that are gone. */
async function stageEdits(
  management: Management,
  guid: string,
  edits: readonly Edit[],
  staged = new Map<string, JsonObject | undefined>(),
): Promise<void> {
  let batch: Edit[] = []
  let bytes = 0
  const stage = async () => {
    if (batch.length === 0) return
    const body = { edits: batch.map((edit) => ({ ...edit })) }
    const changed = recordsOf(await management.call('POST', `/blueprints/${guid}/edits`, body))
    for (const edit of batch) staged.set(edit.guid, undefined)
    // Also those that name a block by another name since.
    for (const record of changed) staged.set(guidOf(record), record)
    batch = []
    bytes = 0
  }
  for (const edit of edits) {
    const size = Buffer.byteLength(JSON.stringify(edit))
    if (batch.length === EDITS || bytes + size > BYTES) await stage()
    batch.push(edit)
    bytes += size
  }
  await stage()
}

/** What takes back what was staged: a block that someone has changed since has another hash, and stays. Those that come back first. */
function formerEdits(
  known: readonly JsonObject[],
  staged: ReadonlyMap<string, JsonObject | undefined>,
): Edit[] {
  const before = new Map(known.map((record) => [guidOf(record), record]))
  const edits = [...staged].map(([guid, record]) => ({
    ...{ guid, update_hash: hashOf(record), content: contentOf(before.get(guid)) },
  }))
  const needed = edits.filter(({ update_hash, content }) => update_hash !== null || content !== null)
  return [
    ...needed.filter(({ content }) => content !== null),
    ...needed.filter(({ content }) => content === null),
  ]
}

/** With what is staged; null for a block that is not there, or staged to go. */
function contentOf(record: JsonObject | undefined): JsonObject | null {
  if (record === undefined) return null
  const unsaved = isJsonObject(record.unsaved) ? record.unsaved : undefined
  if (unsaved?.change === 'removed') return null
  const content = unsaved?.change === 'updated' ? unsaved : record
  const members = Object.keys(blockContent).filter((name) => content[name] !== undefined)
  return Object.fromEntries(members.map((name) => [name, content[name] ?? null]))
}

function editsFor(known: readonly JsonObject[], blocks: readonly Block[]): Edit[] {
  const records = new Map(known.map((record) => [nameOf(record), record]))
  const guids = new Map(
    blocks.map(({ guid, name = '' }) => {
      const record = records.get(name)
      return [guid, record ? guidOf(record) : guid]
    }),
  )
  const remaining = new Set(guids.values())
  const removed = known.filter((record) => !remaining.has(guidOf(record)))
  const edited = blocks.map(({ guid, ...content }): Edit => {
    const record = records.get(content.name ?? '')
    const in_pins = content.in_pins.map(({ from, ...pin }) => ({
      ...pin,
      ...(from && { from: from.map((end) => ({ pin: end.pin, block: guids.get(end.block) ?? end.block })) }),
    }))
    const input: JsonObject = JSON.parse(JSON.stringify({ ...content, in_pins }))
    return { guid: guids.get(guid) ?? guid, update_hash: hashOf(record), content: input }
  })
  return [
    ...removed.map((record) => ({ guid: guidOf(record), update_hash: hashOf(record), content: null })),
    ...edited,
  ]
}

/** What it is called with everything that is staged. */
function nameOf({ name, unsaved }: JsonObject): string {
  const staged = isJsonObject(unsaved) ? unsaved.name : undefined
  return String(staged ?? name)
}

function hashOf(record: JsonObject | undefined): string | null {
  const meta = record?._meta
  return isJsonObject(meta) ? String(meta.update_hash) : null
}

interface Import {
  readonly file: string
  readonly activate: boolean
  readonly replace: boolean
  readonly another: boolean
  /** With its sample documents. True if not given. */
  readonly samples?: boolean
  readonly url: string | undefined
}

interface FileRead {
  readonly imported: ImportedBlueprint
  readonly parts: ApplicationParts
  readonly documents: ReturnType<typeof documentsOfFile>
}

export async function runImport(
  { file, activate, replace, another, samples = true, url }: Import,
  terminal: Terminal,
): Promise<number> {
  const json = await readBlueprintFile(file)
  const found = activate ? await findings(json, url, terminal) : undefined
  const reported = new Set(found?.warnings)
  const warn = (warning: string) => terminal.complain(`${file}: warning: ${warning}`)
  for (const warning of reported) warn(warning)
  for (const problem of found?.problems ?? []) terminal.complain(`${file}: ${problem}`)
  if (found && found.problems.length > 0) return 1
  const imported = importBlueprint(json, guidSource(terminal.clock, terminal.random))
  const documents: FileRead['documents'] = samples ? documentsOfFile(json) : []
  const parts = partsOfFile(json)
  return withManagement(terminal, url, async (management) => {
    if (!replace && !another) await refuseTwin(management, imported.name)
    const known = replace ? await blueprintNamed(management, imported.name) : undefined
    const { guid, left } = await put(partsApi(management, terminal), management, known, {
      imported,
      parts,
      documents,
      replace,
    })
    for (const part of left) warn(`${part} is there and differs; --replace changes it.`)
    terminal.print(guid)
    if (!activate) {
      await warnOfNeeds(management, imported.blocks, warn)
      return 0
    }
    return activated(terminal, async () => {
      const warnings =
        known?.active === true
          ? warningsIn(await management.call('POST', `/blueprints/deploy/${guid}`))
          : await activateBlueprint(management, guid, terminal, pause)
      for (const line of await linesOf(management, guid, warnings)) if (!reported.has(line)) warn(line)
    })
  })
}

/** The blocks of extensions that are not here are those of the cluster, which checks them when it activates the blueprint. */
async function findings(
  json: unknown,
  url: string | undefined,
  terminal: Terminal,
): Promise<BlueprintFindings> {
  const found = await blueprintProblems(json, terminal)
  if (found.elsewhere.length === 0) return found
  const blocks = await withManagement(terminal, url, async (management) =>
    recordsOf(await management.call('GET', '/blocks').catch(noneIfForbidden)),
  )
  return blueprintProblems(json, terminal, new Set(blocks.map(({ identifier }) => String(identifier))))
}

/** Rejects when the signal is raised. */
const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, signal && { signal })

/** The parts first: documents keep to fields. What was made is removed again if anything fails. */
async function put(
  api: PartsApi,
  management: Management,
  known: JsonObject | undefined,
  { replace, ...read }: FileRead & { readonly replace: boolean },
) {
  const { left, undo } = await installParts(api, read.parts, replace)
  try {
    const guid =
      known === undefined ? await install(management, read) : await replaced(management, known, read)
    return { guid, left }
  } catch (error) {
    await undo()
    throw error
  }
}

async function replaced(
  management: Management,
  known: JsonObject,
  { imported, documents }: FileRead,
): Promise<string> {
  const guid = guidOf(known)
  await replaceBlueprint(management, guid, imported)
  await addDocuments(management, documents)
  return guid
}

async function install(management: Management, { imported, documents }: FileRead): Promise<string> {
  const { name, description, category, tags, notes } = imported
  const input = { name, description, category, tags: [...tags], notes: notes.map((note) => ({ ...note })) }
  const guid = guidOf(await management.call('POST', '/blueprints', input))
  try {
    await makeBlocks(management, guid, imported.blocks)
    await addDocuments(management, documents)
  } catch (error) {
    // If that fails too, what stays is inactive; the first error is the one to tell.
    await management.call('DELETE', `/blueprints/${guid}`).catch(() => undefined)
    throw error
  }
  return guid
}

/** What the server warns of, with the names of the blocks; a check of the file alone knows no other blueprint. */
async function linesOf(
  management: Management,
  guid: string,
  warnings: readonly Problem[],
): Promise<readonly string[]> {
  if (warnings.length === 0) return []
  const blocks = recordsOf(await management.call('GET', `/blueprints/${guid}/blocks`).catch(() => []))
  const names = new Map(blocks.map((block) => [guidOf(block), String(block.name)]))
  return warnings.map((one) => problemLine({ ...one, block: names.get(one.block) ?? one.block }))
}

/** A second blueprint of one name is seldom meant: neither an export nor `--replace` could tell the two apart. */
async function refuseTwin(management: Management, name: string): Promise<void> {
  const search = { filters: { name }, limit: 1 }
  // Users who may create blueprints need not be allowed to see them.
  const reply = await management.call('POST', '/blueprints/search', search).catch(noneIfForbidden)
  const [found] = recordsOf(reply)
  if (!found) return
  throw new Refused(
    `A blueprint named ${JSON.stringify(name)} exists: ${guidOf(found)}. ` +
      'Use --replace to make the file its next version, or --another to create one more of that name.',
    409,
  )
}

function noneIfForbidden(error: unknown): JsonValue {
  if (error instanceof Refused && error.status === 403) return []
  throw error
}

/** The blueprint of that name; undefined when there is none. Throws Refused when there are several: a file names no guid. */
async function blueprintNamed(management: Management, name: string) {
  const found = recordsOf(
    await management.call('POST', '/blueprints/search', { filters: { name }, limit: 10 }),
  )
  if (found.length < 2) return found[0]
  const guids = found.map((one) => (one.active === true ? `${guidOf(one)} (active)` : guidOf(one)))
  throw new Refused(
    `Several blueprints are named ${JSON.stringify(name)}, so --replace does not know which one: ${guids.join(', ')}. ` +
      'Rename or remove the others in the studio.',
    409,
  )
}

async function activated(terminal: Terminal, activate: () => Promise<void>): Promise<number> {
  try {
    await activate()
    return 0
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    terminal.complain(
      `It was imported and is not active: ${error.message} ` +
        'Correct the file and import it with --replace --activate, or remove the blueprint.',
    )
    return 1
  }
}

async function addDocuments(management: Management, all: FileRead['documents']): Promise<void> {
  for (const [storage, documents] of all)
    await management.call('POST', '/_system/storages/samples', { storage, documents })
}

/** Warns of values of the environment, secrets and connections that the blocks use and that are not there. */
async function warnOfNeeds(
  management: Management,
  blocks: readonly Block[],
  warn: (text: string) => void,
): Promise<void> {
  const values = {
    missing: (name: string) => `There is no value env.${name}. Set it: quoin env set ${name} <value>`,
    unknown: (name: string) =>
      `The blueprint reads env.${name}; whether it is set is not known without the scope environment_view.`,
  }
  await warnOfMissing(management, valueKind, environmentNames(blocks), values, warn)
  await warnOfMissing(management, secretKind, secretNamesOf(blocks), named('secret'), warn)
  await warnOfMissing(management, connectionKind, connectionNamesOf(blocks), named('connection'), warn)
}

function named(noun: 'secret' | 'connection') {
  const file = noun === 'connection' ? ' <file>' : ''
  return {
    missing: (name: string) => `There is no ${noun} ${name}. Set it: quoin ${noun} set ${name}${file}`,
    unknown: (name: string) =>
      `The blueprint uses the ${noun} ${name}; whether it is set is not known without the scope ${noun}s_view.`,
  }
}
