/**
 * Puts the flows in place of resource blocks that they stand for, before the blueprint becomes a graph: from there on
 * everything is as if a builder had drawn them. A block that cannot be expanded stays, and reading its trigger says why.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import { endpointUri } from '../../blocks/endpoint-uri.ts'
import { readSettings } from '../../blocks/pins/read-settings.ts'
import type { Block } from '../../shared/blueprint.ts'
import type { Problem } from '../../shared/errors.ts'
import { memberOf } from '../../shared/json.ts'
import { expandResource, isResource } from '../../shared/resource/expand-resource.ts'
import {
  literalOf,
  type ResourceSettings,
  resourceProblem,
  resourceSettingsOf,
} from '../../shared/resource/resource.ts'

import { isOwnStorage, storageNameProblem } from '../../storage/system-storages.ts'

/** Between the guid of a resource and the name of one of its parts; no guid has it. */
const PART = '~'

/** The pin or setting of a resource that a pin of its parts comes from. */
const PINS: Readonly<Record<string, string>> = {
  uri: 'uri',
  storage: 'storage',
  schema: 'filters',
  where: 'filters',
  sort: 'orders',
  expand: 'expand',
}

export function expandResources(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): readonly Block[] {
  let expanded = blocks
  for (const block of blocks.filter(isResource)) {
    const settings = settingsOf(block, catalogue)
    if (!settings) continue
    // Hooks of one may be wired from another one, so the block is taken as it is by now.
    const current = expanded.find(({ guid }) => guid === block.guid) ?? block
    const name = block.name ?? 'resource'
    expanded = expandResource(current, settings, expanded, {
      guidOf: (part) => `${block.guid}${PART}${part}`,
      nameOf: (part) => `${name}_${part}`,
    })
  }
  return expanded
}

/** The block that a builder has drawn: the resource, where it is of one of its parts. */
export function drawnBlock(guid: string): string {
  const at = guid.indexOf(PART)
  return at < 0 ? guid : guid.slice(0, at)
}

/** Problems and notes of parts, as those of the block that stands on the canvas. `reported`: made of what is known of the drawn block. */
export function ofDrawnBlocks<P extends Problem>(
  problems: readonly P[],
  reported: (problem: Problem, from: P) => P,
): P[] {
  const known = new Set<string>()
  return problems.flatMap((problem) => {
    if (!problem.block.includes(PART) && !problem.message.includes(PART)) return [problem]
    const block = drawnBlock(problem.block)
    const message = problem.message.replace(/(?<![\w-])([\w-]+)~\w+/g, '$1')
    const pin = block === problem.block ? problem.pin : memberOf(PINS, problem.pin ?? '')
    const key = `${block} ${pin ?? ''} ${message}`
    if (known.has(key)) return []
    known.add(key)
    return [reported({ block, message, ...(pin !== undefined && { pin }) }, problem)]
  })
}

/** Undefined for a block of which something is wrong. */
function settingsOf(
  block: Block,
  catalogue: ReadonlyMap<string, BlockDefinition>,
): ResourceSettings | undefined {
  const definition = catalogue.get(block.type)
  if (!definition) return undefined
  const { problems } = readSettings(definition.settings, block.fields)
  const settings = resourceSettingsOf(block.fields)
  const isSound = problems.length === 0 && resourceProblem(settings) === undefined
  return isSound && hasAddress(block) ? settings : undefined
}

function hasAddress(block: Block): boolean {
  const [uri = '', storage = ''] = [literalOf(block, 'uri'), literalOf(block, 'storage')]
  try {
    const address = endpointUri(uri)
    const fits = !address.includes('...') && !address.split('/').includes('{guid}')
    return fits && storageNameProblem(storage) === undefined && !isOwnStorage(storage)
  } catch {
    return false
  }
}
