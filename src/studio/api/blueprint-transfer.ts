import type { Blueprint } from '../../shared/api/blueprints/blueprints.ts'
import type { BlueprintFile } from '../../shared/application/blueprint-file.ts'
import { blueprintOfFile, exportBlueprint } from '../../shared/application/blueprint-file.ts'
import { installParts, type PartsApi } from '../../shared/application/install-parts.ts'
import { connectionNamesOf, secretNamesOf } from '../../shared/application/names-in-pins.ts'
import { readParts } from '../../shared/application/read-parts.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import { guidSource } from '../../shared/guid.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { ApiError } from './api-error.ts'
import { forgetBlueprints, setActive } from './blueprints.ts'
import { call } from './request.ts'

/** So many blocks are staged with one request; the server takes 2,000. More requests show how far it is. */
const AT_ONCE = 500

const partsApi: Omit<PartsApi, 'stays'> = {
  async find(path, body) {
    try {
      return await call<JsonObject[]>('POST', path, { body })
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return undefined
      throw error
    }
  },
  call: (method, path, body) => call<JsonValue>(method, path, body === undefined ? {} : { body }),
}

export interface BlueprintImported {
  readonly guid: string
  /** Parts that are there, differ and were left as they are, in words. */
  readonly left: readonly string[]
}

export interface ImportProgress {
  /** Of the blocks. */
  readonly onProgress?: (share: number) => void
  readonly stays: PartsApi['stays']
}

/**
 * Makes a blueprint from a file: its groups, storages, fields and templates first; then all blocks are staged and saved together; then its
 * documents are stored. If anything fails, what was made is removed again.
 */
export async function importBlueprintFile(
  file: BlueprintFile,
  { onProgress = () => {}, stays }: ImportProgress,
): Promise<BlueprintImported> {
  const { groups = [], storages = [], fields = [], templates = [] } = file
  const parts = { groups, storages, fields, templates }
  const { left, undo } = await installParts({ ...partsApi, stays }, parts, false)
  try {
    return { guid: await makeBlueprint(file, onProgress), left }
  } catch (error) {
    await undo()
    throw error
  } finally {
    await forgetBlueprints()
  }
}

/** Makes and activates a blueprint of our own making, or leaves nothing. Gives its guid. */
export async function importActive(file: BlueprintFile): Promise<string> {
  const { guid } = await importBlueprintFile(file, { stays: () => undefined })
  try {
    await setActive(guid, true)
  } catch (error) {
    await call('DELETE', `/blueprints/${guid}`).catch(() => undefined)
    throw error
  }
  return guid
}

async function makeBlueprint(file: BlueprintFile, onProgress: (share: number) => void): Promise<string> {
  const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))
  const { blocks, ...described } = blueprintOfFile(file, newGuid)
  const made = await call<Blueprint>('POST', '/blueprints', { body: described })
  const blueprint = made._meta.guid
  try {
    for (let at = 0; at < blocks.length; at += AT_ONCE) {
      onProgress(at / blocks.length)
      const edits = blocks
        .slice(at, at + AT_ONCE)
        .map(({ guid, ...content }) => ({ guid, update_hash: null, content }))
      await call('POST', `/blueprints/${blueprint}/edits`, { body: { edits } })
    }
    await call('POST', `/blueprintactions/unsaved/${blueprint}`)
    for (const [storage, documents] of Object.entries(file.documents ?? {}))
      await call('POST', '/_system/storages/samples', { body: { storage, documents } })
    onProgress(1)
  } catch (error) {
    await call('DELETE', `/blueprints/${blueprint}`).catch(() => undefined)
    throw error
  }
  return blueprint
}

interface SavedRecord extends BlockContent {
  readonly _meta: { readonly guid: string }
  /** False while the block exists only as staged. */
  readonly is_created: boolean
}

/** The saved blocks and the remarks of a blueprint as a file: what is only staged is left out. */
export async function exportBlueprintFile({
  _meta,
  name,
  description,
  category = '',
  tags = [],
  notes = [],
}: Blueprint): Promise<BlueprintFile> {
  const records = await call<SavedRecord[]>('GET', `/blueprints/${_meta.guid}/blocks`)
  const blocks = records
    .filter(({ is_created }) => is_created)
    .map((record) => ({ ...record, guid: record._meta.guid }))
    .toSorted((a, b) => (a.guid < b.guid ? -1 : 1))
  // The parser is loaded with the first expression that is shown, or here.
  const { environmentNames } = await import('../../expressions/language/environment/environment-names.ts')
  const { parts } = await readParts(partsApi.find, blocks)
  return exportBlueprint(
    { name, description, category, tags, blocks, notes },
    {
      env: environmentNames(blocks),
      secrets: secretNamesOf(blocks),
      connections: connectionNamesOf(blocks),
      parts,
    },
  )
}
