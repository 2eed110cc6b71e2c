import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { suiteFiles } from './test/tiers/suite-files.ts'
import { type Engine, readSuites, type Tier } from './test/tiers/suites.ts'

const suites = readSuites()
const files = suiteFiles()

/** A project of vitest. A suite that is new, and so in no tier, is in `main`; a test says so. */
function project(name: string, tier: Tier, engine: Engine) {
  const tierOf = (file: string) => suites[engine][file]?.tier ?? 'main'
  return {
    extends: true as const,
    test: {
      name,
      include: files[engine].filter((file) => tierOf(file) === tier),
      provide: { engine, thorough: false },
    },
  }
}

/** The longest first: one that starts last is waited for with one core idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId, project }: TestSpecification) => {
      const name = moduleId.slice(project.config.root.length + 1)
      const suite = suites[project.name.endsWith('postgres') ? 'postgres' : 'sqlite'][name]
      return (suite?.seconds ?? 0) + (suite?.postgres ?? 0)
    }
    // One project after the other: a process that has loaded the program for one is of no use to the other.
    const place = ({ project }: TestSpecification) => names.indexOf(project.name)
    return files.toSorted((a, b) => place(a) - place(b) || seconds(b) - seconds(a))
  }
}

const projects = [
  project('rest', 'rest', 'sqlite'),
  project('rest-postgres', 'rest', 'postgres'),
  project('main', 'main', 'sqlite'),
  project('main-postgres', 'main', 'postgres'),
  project('unit', 'unit', 'sqlite'),
]
const names = projects.map(({ test }) => test.name)

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // The second one notes which suites failed; the others take the note back where a run failed for another reason too.
    reporters: ['default', './test/second-tries.ts', './test/named-skips.ts', './test/tiers/suite-times.ts'],
    // One race in 15,000 tests, on a machine that stalls, is named at the end of the run and does not lose an hour's work.
    retry: process.env.CI ? 1 : 0,
    globalSetup: ['test/postgres/global-postgres.ts'],
    runner: './test/tiers/measuring-runner.ts',
    // Node imports the sources itself, as it does where they run, and keeps what it compiled: the program is loaded in 0.6
    // instead of 1.6 s of processor time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Young objects of the whole program have 32 to 64 MB, so that V8 collects them more rarely: 8 % less processor time.
    execArgv: [
      ...['--import', new URL('./bin/compile-cache.mjs', import.meta.url).href],
      ...['--min-semi-space-size=32', '--max-semi-space-size=64'],
    ],
    pool: 'forks',
    // A process runs many files, one after the other, and loads the program once: half a second of processor time for each
    // of 500 files. What a test changes of its process (clock, environment) it puts back.
    isolate: false,
    // More than there are cores: browsers, leases and started processes are waited for a third of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A machine that does other things meanwhile is slow, not wrong.
    testTimeout: 180_000,
    // What is waited for by a condition may take longer than a second on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 300_000,
    projects,
  },
})
