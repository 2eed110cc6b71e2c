import type { BlockRecord } from '../../shared/api/blueprints/blueprint-actions.ts'
import type { DeployAction } from '../../shared/api/blueprints/blueprints.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import { pagePath } from '../controls/pages/page-path.ts'

export interface PlacedPage {
  readonly block: string
  /** `/books`; undefined where a wire gives it. */
  readonly path: string | undefined
  /** Anyone may open it, without signing in. */
  readonly isPublic: boolean
}

const TYPE = 'state_page'

export function savedPage({ _meta, blueprint_guid, ...content }: BlockRecord) {
  return { ...pageOf(_meta.guid, content), blueprint: blueprint_guid }
}

function pageOf(block: string, { in_pins, scopes }: Pick<BlockContent, 'in_pins' | 'scopes'>): PlacedPage {
  const path = pagePath(in_pins.find(({ id }) => id === 'url')?.value)
  return { block, path, isPublic: scopes.length === 0 || scopes.includes('*public') }
}

/** The pages that visitors reach: the saved ones, with those that wait to be deployed as they were deployed. */
export function deployedPages(
  saved: readonly PlacedPage[],
  pending: readonly DeployAction[],
): readonly PlacedPage[] {
  const waiting = new Set(pending.map(({ guid }) => guid))
  const before = pending.flatMap(({ guid, before: content }) =>
    content?.type === TYPE ? [pageOf(guid, content)] : [],
  )
  return [...saved.filter(({ block }) => !waiting.has(block)), ...before]
}
