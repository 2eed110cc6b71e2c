/** Who may call an endpoint or open a page, in words that a person reads before deploying. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { RESOURCE_TYPE } from '../../../../shared/resource/resource.ts'
import { resourceEndpoints } from '../../../../shared/resource/resource-endpoints.ts'
import { scopeLabels } from '../../../controls/scope-labels.ts'
import { modelTexts } from '../../../texts/editor.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf } from '../flow.ts'
import { nameOf } from './block-names.ts'

/** Triggers that requests reach, so that scopes say who may. Anything else runs by itself. */
export function isEntrance({ type }: Pick<BlockContent, 'type'>, catalogue: Catalogue): boolean {
  const on = catalogue.get(type)?.on
  return on === 'http' || on === 'page'
}

/** The same, and functions that agents get as a tool. */
export function hasCallers(content: Pick<BlockContent, 'type' | 'fields'>, catalogue: Catalogue): boolean {
  return isEntrance(content, catalogue) || toolOf(content, catalogue) !== undefined
}

function toolOf({ type, fields }: Pick<BlockContent, 'type' | 'fields'>, catalogue: Catalogue) {
  const { tool } = fields
  if (catalogue.get(type)?.on !== 'function') return undefined
  return typeof tool === 'string' && tool.trim() !== '' ? tool.trim() : undefined
}

/** No scope at all is public too. */
function isPublic(scopes: readonly string[]): boolean {
  return scopes.length === 0 || scopes.includes('*public')
}

export function openTo(scopes: readonly string[]): string {
  if (isPublic(scopes)) return modelTexts.everyonePublic
  if (scopes.includes('*loggedin')) return modelTexts.signedInUsers
  return modelTexts.usersWith(scopes.map(scopeLabels).join(modelTexts.or))
}

export interface Entrance {
  readonly block: string
  /** `GET /tasks` or `Page /tasks`. */
  readonly name: string
  readonly openTo: string
  readonly isPublic: boolean
}

/** Every endpoint, page and function as a tool of the flow: those that are public first. */
export function entrancesOf(flow: Flow, catalogue: Catalogue): Entrance[] {
  const found = [...flow].flatMap(([block, content]): Entrance[] => {
    const tool = toolOf(content, catalogue)
    if (tool !== undefined) return [toolEntrance(block, tool, content.scopes)]
    if (!isEntrance(content, catalogue)) return []
    if (content.type === RESOURCE_TYPE) return resourceEntrances(block, content)
    const { scopes } = content
    return [
      { block, name: entranceName(content, catalogue), openTo: openTo(scopes), isPublic: isPublic(scopes) },
    ]
  })
  return found.toSorted((a, b) => Number(b.isPublic) - Number(a.isPublic) || a.name.localeCompare(b.name))
}

/** A deploy refuses one without scopes. Agents have keys, so none is public. */
function toolEntrance(block: string, tool: string, scopes: readonly string[]): Entrance {
  const open = scopes.length === 0 ? modelTexts.noOne : openTo(scopes.map(asSignedIn))
  return { block, name: modelTexts.tool(tool), openTo: open, isPublic: false }
}

const asSignedIn = (scope: string): string => (scope === '*public' ? '*loggedin' : scope)

function resourceEntrances(block: string, content: BlockContent): Entrance[] {
  return resourceEndpoints(content).map(({ method, uri, scopes }) => ({
    block: `${block} ${method} ${uri}`,
    name: `${method} /${uri}`,
    openTo: openTo(scopes),
    isPublic: isPublic(scopes),
  }))
}

function entranceName(content: BlockContent, catalogue: Catalogue): string {
  const url = catalogue.get(content.type)?.on === 'page' ? inPinOf(content, 'url')?.value : undefined
  return typeof url === 'string' ? modelTexts.page(url.replace(/^\/+/, '')) : nameOf(content, catalogue)
}
