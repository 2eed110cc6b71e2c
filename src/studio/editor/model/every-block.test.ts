/** What the editor says of each block right after it was added, and what it offers behind it. */
import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../../../blocks/load-blocks.ts'
import { compileBlueprint } from '../../../flows/compile/compile-blueprint.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import { catalogueOf } from './block-description.ts'
import type { Flow } from './flow.ts'
import { problemsOf, shownChecks } from './fresh-blocks.ts'
import { fittingBlocks } from './pins/fitting-blocks.ts'
import { nextBlocks } from './pins/next-blocks.ts'
import { neededField } from './pins/pins.ts'

const found = await findBlocks()
const definitions = await loadBlocks()
const catalogue = catalogueOf(found.map(({ definition, group }) => describeBlock(definition, group)))
const all = [...catalogue.values()]

/** As it is added: behind a trigger where it is a step. */
function added(type: string): Flow {
  const into = catalogue.get(type)?.in.flow ? [{ id: 'flow', from: [{ block: 'get', pin: 'flow' }] }] : []
  const get: BlockContent = {
    ...emptyContent,
    type: 'on_startup_register_uri_get',
    in_pins: [{ id: 'uri', value: 'goods' }],
  }
  return new Map([
    ['get', get],
    ['new', { ...emptyContent, type, in_pins: into }],
  ])
}

test.each(all.map(({ identifier }) => [identifier]))(
  '%s has no error before it was touched, and the keyboard is in the first field that it needs',
  (identifier) => {
    const flow = added(identifier)
    const blocks = [...flow].map(([guid, content]) => ({ guid, ...content }))
    const compiled = compileBlueprint('b', blocks, definitions)
    const checked = { problems: compiled.blueprint ? [] : compiled.problems, notes: [] }
    const fresh = new Map([['new', new Set<string>()]])
    const shown = problemsOf(shownChecks(checked, flow, fresh, flow), 'new')
    expect(shown.filter(({ level }) => level !== 'needed')).toEqual([])
    const content = flow.get('new')
    expect(content && neededField(content, catalogue)).toBe(shown[0]?.pin)
  },
)

test.each(
  all.flatMap(({ identifier, out }) =>
    Object.entries(out)
      .filter(([, { type, frame }]) => type === 'flow' && !frame)
      .map(([pin]) => [identifier, pin] as const),
  ),
)('what is offered first behind %s, %s, can be wired there', (type, pin) => {
  const flow = added(type)
  const place = { block: 'new', pin }
  const fitting = fittingBlocks(flow, catalogue, { side: 'from', place })
  const next = nextBlocks(flow, catalogue, place)
  const fits = fitting.map(({ description }) => description.identifier)
  expect(next.filter((identifier) => !fits.includes(identifier))).toEqual([])
  // Behind a trigger that few use nothing is usual.
  if (catalogue.get(type)?.kind === 'flow') expect(next.length).toBeGreaterThan(0)
})
