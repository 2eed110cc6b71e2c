/** Everything that the editor asks of the public API. */
import type { BlockContent } from '../../../shared/blueprint.ts'
import type { Problem } from '../../api/api-error.ts'
import { errorFromReply, unreachable } from '../../api/api-error.ts'
import type { Actor, Blueprint as BlueprintRecord, Explanation, StorageRecord } from '../../api/records.ts'
import { address, call, search, tokenHeader } from '../../api/request.ts'
import type { BlockDescription } from '../model/block-description.ts'
import type { Note } from '../model/note.ts'
import type { BlockRecord } from '../model/staged-blocks.ts'

export interface Blueprint extends BlueprintRecord {
  readonly notes?: readonly Note[]
}

export interface BlockEdit {
  readonly guid: string
  /** null: there must be no such block yet. */
  readonly update_hash: string | null
  /** null: remove it. */
  readonly content: BlockContent | null
}

export interface Checked {
  readonly problems: readonly Problem[]
  readonly notes: readonly (Problem & { readonly level: 'warn' | 'info' })[]
}

export interface VersionSummary {
  readonly number: number
  /** Unix seconds. */
  readonly deployed: number
  readonly by: Actor
  readonly blocks: number
  readonly live: boolean
}

export interface VersionBlock extends BlockContent {
  readonly guid: string
}

export function listBlockTypes(signal?: AbortSignal): Promise<BlockDescription[]> {
  return call('GET', '/blocks', { signal })
}

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

export function changeBlueprint(
  guid: string,
  change: { readonly name?: string; readonly notes?: readonly Note[]; readonly update_hash?: string },
): Promise<Blueprint> {
  return call('PUT', `/blueprints/${guid}`, { body: change })
}

export function activate(guid: string): Promise<Blueprint> {
  return call('PUT', `/blueprints/update/set/active/${guid}`, { body: {} })
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
): Promise<readonly VersionBlock[]> {
  const { blocks } = await call<{ blocks: VersionBlock[] }>('GET', `/blueprints/${guid}/versions/${number}`, {
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
    headers: { ...tokenHeader(), ...(tag === '' ? {} : { 'if-none-match': tag }) },
  })
  if (response.status === 304) return { tag, value: undefined }
  if (!response.ok) throw errorFromReply(response.status, await response.text())
  const value: T = await response.json()
  return { tag: response.headers.get('etag') ?? '', value }
}

async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw unreachable()
  }
}
