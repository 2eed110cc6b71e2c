/**
 * A process that tries mutants, one after the other, on one running Quoin, and tells its parent of each.
 * The scenario of the block has to hold before and behind them: else nothing that it said is worth anything.
 *
 * Arguments: --only, --deliberate and --empty as those of mutate.ts, and --from: the number of the first mutant.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allMutants } from './all-mutants.ts'
import { switchedTexts } from './chosen-mutants.ts'
import { swapModules } from './swap-modules.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    deliberate: { type: 'boolean', default: false },
    empty: { type: 'boolean', default: false },
    from: { type: 'string', default: '0' },
  },
})

export type Report =
  | { readonly begins: number }
  | { readonly ended: number; readonly killed: boolean; readonly why: string }
  | { readonly broken: string }

// Before the first source is loaded.
swapModules(switchedTexts())
const { tryMutant, openMutantRoom } = await import('./try-mutant.ts')

const tell = (reported: Report) =>
  new Promise<void>((resolve, reject) => {
    if (process.send === undefined) throw new Error('This runs as the child of mutate.ts.')
    process.send(reported, (error) => (error ? reject(error) : resolve()))
  })

const mutants = allMutants(values).map((mutant, place) => ({ mutant, place }))
const left = mutants.slice(Number(values.from))
const root = join(import.meta.dirname, '../..')

const fixture = await openMutantRoom()
for (const [block, own] of Map.groupBy(left, ({ mutant }) => mutant.block)) {
  const blockFixture = fixture.of(block, values.empty)
  const check = async (when: string) => {
    const why = await blockFixture.holds()
    if (why !== undefined) await tell({ broken: `${block} fails ${when}: ${why}` })
  }
  await check('before any change')
  for (const { mutant, place } of own) {
    await tell({ begins: place })
    const why = await tryMutant(blockFixture, root, mutant)
    await tell({ ended: place, killed: why !== undefined, why: why ?? '' })
  }
  if (!values.deliberate) await check('behind the changes')
}
await fixture.close()
process.disconnect?.()
