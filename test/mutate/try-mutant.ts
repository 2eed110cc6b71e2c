import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BlockDefinition } from '../../src/blocks/block.ts'
import { definitionProblems, isDefinition } from '../../src/blocks/load-blocks.ts'
import { openContractFixture } from '../contract/contract-fixture.ts'
import { findScenarios } from '../contract/find-scenarios.ts'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { partsOf } from './block-parts.ts'
import { type Edits, edited, type Mutant } from './mutant.ts'
import { importChanged } from './swap-modules.ts'

/** One running Quoin for all mutants of a process. */
export interface MutantRoom {
  /** `empty`: as if the block's scenarios asserted nothing. */
  of(block: string, empty: boolean): BlockFixture
  close(): Promise<void>
}

export interface BlockFixture {
  readonly block: string
  /** Where the block is, below the root. */
  readonly file: string
  /** Why a scenario of the block does not hold now; undefined when all do. */
  holds(): Promise<string | undefined>
  /** Blueprints that are deployed meanwhile have this for the block. */
  defined<Result>(definition: BlockDefinition, work: () => Promise<Result>): Promise<Result>
}

export async function openMutantRoom(): Promise<MutantRoom> {
  const found = await findScenarios()
  const fixture = await openContractFixture()
  const { catalogue } = fixture.quoin.flows
  if (!(catalogue instanceof Map)) throw new TypeError('The catalogue cannot be changed.')

  /** What a scenario left active would go on beside the next one. */
  async function rest(): Promise<void> {
    const active = objectsOf(
      await fixture.manage('POST', '/blueprints/search', { filters: { active: true } }),
    )
    for (const blueprint of active)
      if (String(blueprint.name).startsWith('row-'))
        await fixture.manage('PUT', `/blueprints/update/set/inactive/${guidOf(blueprint)}`)
  }

  const of = (block: string, empty: boolean): BlockFixture => ({
    block,
    file: partsOf(block)[0]?.file ?? '',
    async holds() {
      try {
        const own = found.filter(({ id }) => id === block || id.startsWith(`${block}: `))
        for (const { scenario } of empty ? [] : own) await scenario(fixture)
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      } finally {
        await rest()
      }
    },
    async defined(definition, work) {
      const former = catalogue.get(block)
      if (former === undefined) throw new Error(`There is no block ${block}.`)
      const names = (one: BlockDefinition) => [one.identifier, ...(one.aliases ?? [])]
      for (const name of names(former)) catalogue.delete(name)
      for (const name of names(definition)) catalogue.set(name, definition)
      try {
        return await work()
      } finally {
        for (const name of names(former)) catalogue.set(name, former)
      }
    },
  })
  return { of, close: () => fixture.close() }
}

/** Why the scenario fails with the change; undefined when it does not see it. */
export async function tryMutant(
  fixture: BlockFixture,
  root: string,
  mutant: Mutant,
): Promise<string | undefined> {
  if (mutant.by.kind === 'edits') return tryEdits(fixture, root, mutant.file, mutant.by)
  globalThis.switchedOn = mutant.by.name
  try {
    return await fixture.holds()
  } finally {
    globalThis.switchedOn = undefined
  }
}

async function tryEdits(fixture: BlockFixture, root: string, file: string, { edits }: Edits) {
  const text = edited(readFileSync(join(root, file), 'utf8'), edits)
  let exported: unknown
  try {
    exported = await importChanged(join(root, fixture.file), join(root, file), text)
  } catch (error) {
    return `It cannot be loaded: ${error}`
  }
  const problems = definitionProblems(exported, fixture.block.replace(' ', '_'))
  if (problems.length > 0 || !isDefinition(exported)) return `It is no block: ${problems.join('; ')}`
  return fixture.defined(exported, () => fixture.holds())
}
