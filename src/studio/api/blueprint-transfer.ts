import type { Blueprint } from '../../shared/api/blueprints.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import type { BlueprintFile } from '../../shared/blueprint-file.ts'
import { blueprintOfFile, exportBlueprint } from '../../shared/blueprint-file.ts'
import { guidSource } from '../../shared/guid.ts'
import { forgetBlueprints } from './blueprints.ts'
import { call } from './request.ts'

/** So many blocks are staged with one request; the server takes 2,000. More requests show how far it is. */
const AT_ONCE = 500

/**
 * Makes a blueprint from a file: all blocks are staged and then saved together, then its documents are stored. Gives its guid. If anything fails, what was
 * made is removed again.
 */
export async function importBlueprintFile(
  file: BlueprintFile,
  onProgress: (share: number) => void = () => {},
): Promise<string> {
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
  } finally {
    await forgetBlueprints()
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
  return exportBlueprint({ name, description, category, tags, blocks, notes }, environmentNames(blocks))
}
