/** Everything that the editor asks of the public API. */
import type { BlueprintTests, TestedBlueprint } from '../../../shared/api/blueprints/applications.ts'
import type { BlockEdit, BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import type {
  Blueprint,
  Checked,
  Explanation,
  VersionBlocks,
  VersionSummary,
} from '../../../shared/api/blueprints/blueprints.ts'
import type { PagePreview, PreviewPage } from '../../../shared/api/blueprints/page-previews.ts'
import type { ComparedRuns } from '../../../shared/api/blueprints/runs.ts'
import type { StorageRecord } from '../../../shared/api/data/storages.ts'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { errorFromReply } from '../../api/api-error.ts'
import { address, call, reached, search, studioHeaders } from '../../api/request.ts'

export function stageEdits(blueprint: string, edits: readonly BlockEdit[]): Promise<BlockRecord[]> {
  return call('POST', `/blueprints/${blueprint}/edits`, { body: { edits } })
}

export function saveStaged(guid: string): Promise<BlockRecord[]> {
  return call('POST', `/blueprintactions/unsaved/${guid}`, { body: {} })
}

export function discardStaged(guid: string): Promise<BlockRecord[]> {
  return call('DELETE', `/blueprintactions/unsaved/${guid}`)
}

export function checkStaged(blueprint: string, signal?: AbortSignal): Promise<Checked> {
  return call('POST', `/blueprints/check/${blueprint}`, { body: { state: 'staged' }, signal })
}

export function previewPage(
  blueprint: string,
  body: PreviewPage,
  signal?: AbortSignal,
): Promise<PagePreview> {
  return call('POST', `/blueprints/${blueprint}/preview`, { body, signal })
}

export function changeBlueprint(
  guid: string,
  change: {
    readonly name?: string
    readonly notes?: readonly BlueprintNote[]
    readonly update_hash?: string
  },
): Promise<Blueprint> {
  return call('PUT', `/blueprints/${guid}`, { body: change })
}

export function activate(guid: string): Promise<Blueprint> {
  return call('PUT', `/blueprints/update/set/active/${guid}`, { body: {} })
}

/** The staged blocks and the deployed ones by recorded runs. `accepted`: keys of differences that are meant, remembered until a deploy. */
export function compareRecorded(guid: string, accepted: readonly string[]): Promise<ComparedRuns> {
  const body = accepted.length === 0 ? {} : { accepted, remember: true }
  return call('POST', `/blueprints/${guid}/compare`, { body })
}

/** Tests of the application that the blueprint belongs to. */
export function listTests(guid: string, signal?: AbortSignal): Promise<BlueprintTests> {
  return call('GET', `/blueprints/${guid}/tests`, { signal })
}

/** Those and more of them, by name, on the staged blocks. */
export function runTests(
  guid: string,
  tests: Readonly<Record<string, JsonObject>>,
  signal: AbortSignal,
): Promise<TestedBlueprint> {
  return call('POST', `/blueprints/${guid}/test`, { body: { tests }, signal })
}

export function deactivate(guid: string): Promise<Blueprint> {
  return call('PUT', `/blueprints/update/set/inactive/${guid}`, { body: {} })
}

export function listVersions(guid: string, signal?: AbortSignal): Promise<VersionSummary[]> {
  return call('GET', `/blueprints/${guid}/versions`, { signal })
}

export async function versionBlocks(
  guid: string,
  number: number,
  signal?: AbortSignal,
): Promise<VersionBlocks['blocks']> {
  const { blocks } = await call<VersionBlocks>('GET', `/blueprints/${guid}/versions/${number}`, {
    signal,
  })
  return blocks
}

export function rollBack(guid: string, number: number): Promise<Blueprint> {
  return call('POST', `/blueprints/${guid}/versions/${number}/rollback`, { body: {} })
}

export function explain(method: string, path: string): Promise<Explanation> {
  return call('POST', '/blueprints/explain', { body: { method, path } })
}

export async function storageNames(signal?: AbortSignal): Promise<string[]> {
  const { records } = await search<StorageRecord>('/_system/storages/search', { limit: 1000 }, signal)
  return records.map(({ name }) => name).sort()
}

export interface Fresh<T> {
  readonly tag: string
  /** undefined: it is as it was when it had the tag that was asked with. */
  readonly value: T | undefined
}

/** Reads something again only if it changed. Throws ApiError. */
export async function readIfChanged<T>(path: string, tag: string, signal?: AbortSignal): Promise<Fresh<T>> {
  const response = await reached(address(path), {
    ...(signal ? { signal } : {}),
    cache: 'no-store',
    headers: { ...studioHeaders(), ...(tag === '' ? {} : { 'if-none-match': tag }) },
  })
  if (response.status === 304) return { tag, value: undefined }
  if (!response.ok) throw errorFromReply(response.status, await response.text())
  const value: T = await response.json()
  return { tag: response.headers.get('etag') ?? '', value }
}
