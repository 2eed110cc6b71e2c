/** The lanes of a blueprint to jump to: one for each trigger, the topmost first. */

import type { Catalogue } from './block-description.ts'
import type { Flow } from './flow.ts'
import { wordsOf } from './words/block-labels.ts'

export interface Lane {
  /** Guid of the trigger. */
  readonly trigger: string
  readonly title: string
}

export function laneList(flow: Flow, catalogue: Catalogue): Lane[] {
  return [...flow]
    .filter(([, { type }]) => catalogue.get(type)?.kind === 'trigger')
    .toSorted(([, a], [, b]) => a.position.y - b.position.y || a.position.x - b.position.x)
    .map(([trigger]) => ({ trigger, title: wordsOf(flow, catalogue, trigger).title }))
}
