import { agents } from './agents.ts'
import { aggregates } from './aggregates.ts'
import { backgroundWork } from './background-work.ts'
import { bareHttp } from './bare-http.ts'
import { building } from './building.ts'
import { contention } from './contention.ts'
import { firstStart } from './first-start.ts'
import { followers } from './followers.ts'
import { freeText, freeTextOfMillion } from './free-text.ts'
import type { Goal } from './goal.ts'
import { identityGoals } from './identity.ts'
import { idleMemory } from './idle-memory.ts'
import { listWithTotal } from './list-with-total.ts'
import { manyBlueprints } from './many-blueprints.ts'
import { manyDeploys } from './many-deploys.ts'
import { million } from './million.ts'
import { tableWithReferences } from './references.ts'
import { resource } from './resource.ts'
import { scimGoals } from './scim.ts'
import { signIn, start } from './start.ts'
import { swap } from './swap.ts'
import { tasksOfBlocks } from './tasks-of-blocks.ts'
import { totalAgain } from './total-again.ts'
import { upgrade } from './upgrade.ts'
import { worstOfAnyone, worstOnPostgres } from './worst-inputs.ts'
import { writeBytes } from './write-bytes.ts'

/** In the order of the project's table of goals. */
export const goals: readonly Goal[] = [
  bareHttp,
  listWithTotal,
  freeText,
  swap,
  manyBlueprints,
  manyDeploys,
  ...backgroundWork,
  ...building,
  idleMemory,
  start,
  signIn,
  followers,
  writeBytes,
  resource,
  ...tableWithReferences,
  totalAgain,
  contention,
  worstOfAnyone,
  ...agents,
]

/** Those that take minutes, and one of a round before: measured only if asked for by name. The whole run is to end within 45 minutes. */
export const longGoals: readonly Goal[] = [
  firstStart,
  tasksOfBlocks,
  million,
  ...freeTextOfMillion,
  ...aggregates,
  upgrade,
  worstOnPostgres,
  ...identityGoals,
  ...scimGoals,
]
