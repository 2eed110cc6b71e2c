/**
 * Changes the blocks of the contract, one small change at a time, and asks the scenario of the block in test/contract
 * whether it notices.
 *
 *   npm run mutate                                  all: about 10 minutes
 *   npm run mutate -- --only function_return        one block, while its scenario is written
 *   npm run mutate -- --deliberate                  the breaks that were once not noticed; npm test runs these
 *   npm run mutate -- --only branch --empty         control: a scenario that asserts nothing has only survivors
 *   npm run mutate -- --room queue --most 20        20 changes of another room's sources: see mutate-room.ts
 *
 * Survivors are listed with their place. It ends with 1 if one of them breaks what a pin promises (marked with !) and is
 * not in accepted-survivors.json, where each has the reason why no scenario can see it, if a block has fewer than three
 * mutants that its scenario kills, or if one that is listed there is no mutant any more or is killed by now. Other
 * survivors are changes of code that mostly mean the same: a list to read, not a fault.
 */
import { parseArgs } from 'node:util'
import { acceptedSurvivors, gone } from './accepted-survivors.ts'
import { allMutants, contractBlocks } from './all-mutants.ts'
import { nameOf } from './mutant.ts'
import { mutateRoom } from './mutate-room.ts'
import { type Outcome, runMutants } from './run-mutants.ts'

const FEWEST = 3

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    deliberate: { type: 'boolean', default: false },
    empty: { type: 'boolean', default: false },
    room: { type: 'string' },
    most: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
  },
})
if (values.room !== undefined)
  process.exit(await mutateRoom(values.room, Number(values.most), Number(values.seed)))
const unknown = values.only.filter((block) => !contractBlocks().includes(block))
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no block of the contract.`)
const isMeant = (block: string) => values.only.length === 0 || values.only.includes(block)

const mutants = allMutants(values)
const accepted = acceptedSurvivors()
const known = new Map(accepted.map((one) => [nameOf(one), one.reason]))
const outcomes: Outcome[] = []
const begun = performance.now()

let printed: string | undefined
function printBlock(block: string): void {
  const own = outcomes.filter(({ mutant }) => mutant.block === block)
  const survivors = own.filter(({ killed }) => !killed)
  console.log(`${block}: ${own.length - survivors.length} killed, ${survivors.length} survived`)
  for (const { mutant } of survivors) {
    const reason = known.get(nameOf(mutant))
    console.log(
      `  ${mutant.promised ? '!' : ' '} ${mutant.file}:${mutant.line}  ${mutant.change}${reason === undefined ? '' : `  (accepted: ${reason})`}`,
    )
  }
}

const options = [
  ...values.only.map((block) => `--only=${block}`),
  ...(values.deliberate ? ['--deliberate'] : []),
  ...(values.empty ? ['--empty'] : []),
]
await runMutants(mutants, options, (outcome) => {
  const { block } = outcome.mutant
  if (printed !== undefined && printed !== block) printBlock(printed)
  printed = block
  outcomes.push(outcome)
})
if (printed !== undefined) printBlock(printed)

const failures = outcomes.filter(
  ({ killed, mutant }) => !killed && mutant.promised && !known.has(nameOf(mutant)),
)
const seconds = Math.round((performance.now() - begun) / 1000)
const killed = outcomes.filter((one) => one.killed).length
console.log(
  `\n${outcomes.length} mutants in ${seconds} s: ${killed} killed, ${outcomes.length - killed} survived,`,
)
console.log(`${failures.length} of these break what a pin promises, and are not accepted.`)

const problems: string[] = failures.length > 0 ? ['Survivors marked with ! are a gap in a scenario.'] : []
if (!values.deliberate) {
  for (const block of contractBlocks().filter(isMeant)) {
    const dead = outcomes.filter((one) => one.mutant.block === block && one.killed).length
    if (dead < FEWEST) problems.push(`${block}: only ${dead} mutants are killed by its scenario.`)
  }
  const relevant = accepted.filter(({ block }) => isMeant(block))
  for (const name of gone(relevant, mutants)) problems.push(`Accepted, but no mutant any more: ${name}`)
  for (const { mutant } of outcomes.filter((one) => one.killed && known.has(nameOf(one.mutant))))
    problems.push(`Accepted, but killed by now: ${nameOf(mutant)}`)
}
for (const problem of problems) console.log(problem)
process.exitCode = problems.length > 0 ? 1 : 0
