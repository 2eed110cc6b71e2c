/**
 * A reporter of vitest: names each skipped test with its reason at the end of the run, and fails the run when there are
 * more than a machine without optional servers explains, or one without a reason. A reason stands at the end of the title,
 * in parentheses, or is what `context.skip(reason)` was given.
 */
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { removeFailedSuites } from './failed-suites.ts'

export interface SkippedTest {
  readonly name: string
  readonly reason: string | undefined
}

/** OpenStack Swift, PgBouncer, curl; room for two more. */
const MOST_SKIPPED = 5

/** What is wrong with so many skips; undefined when nothing is. */
export function skipProblem(skipped: readonly SkippedTest[]): string | undefined {
  if (skipped.length > MOST_SKIPPED)
    return `${skipped.length} tests were skipped; at most ${MOST_SKIPPED} may be. The run failed.`
  const unexplained = skipped.filter(({ reason }) => reason === undefined).length
  return unexplained > 0 ? `${unexplained} tests were skipped without a reason. The run failed.` : undefined
}

export default class NamedSkips implements Reporter {
  #filtered = false

  onInit(vitest: Vitest): void {
    // With -t all others count as skipped.
    this.#filtered = vitest.config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap(skippedOf)
    if (this.#filtered || skipped.length === 0) return
    console.log(`Skipped tests: ${skipped.length}`)
    for (const { name, reason } of skipped) console.log(`  ${name}: ${reason ?? 'no reason given'}`)
    const problem = skipProblem(skipped)
    if (problem === undefined) return
    console.error(problem)
    process.exitCode = 1
    removeFailedSuites()
  }
}

/** Not those whose suite failed before it came to them: that is told already. */
function isMeant({ parent }: TestCase): boolean {
  for (let above = parent; ; above = above.parent) {
    if (above.errors().length > 0) return false
    if (above.type === 'module') return true
  }
}

function skippedOf(module: TestModule): SkippedTest[] {
  return [...module.children.allTests('skipped')].filter(isMeant).map((test) => {
    const result = test.result()
    const [, title = test.fullName, reason] = /^(.*) \(([^)]+)\)$/s.exec(test.fullName) ?? []
    const note = result.state === 'skipped' ? result.note : undefined
    const where = `${module.relativeModuleId} > ${title}`
    return { name: where, reason: note ?? reason }
  })
}
