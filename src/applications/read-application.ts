/** What keeps an application from being read or released, as errors of the API. */
import { createHash } from 'node:crypto'
import { type Application, normalSteps, shapeProblem } from '../shared/application/application.ts'
import { runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { ReleasePlan } from './plan-release.ts'
import type { Verification } from './verified-push.ts'

export interface PushOptions {
  readonly state: string
  readonly allowLoss: boolean
  /** Runs that wait continue on the new release where its blocks fit. */
  readonly moveWaits?: boolean
  /** Recorded runs are compared first. */
  readonly verify?: Verification
}

/** CONFLICT for what cannot be read as an application. */
export async function readApplication(input: JsonObject): Promise<Application> {
  const shape = shapeProblem(input)
  if (shape !== undefined) throw unusable([shape])
  return runCooperatively(normalSteps(input))
}

export function refuse({ refused, lost }: ReleasePlan, allowLoss: boolean): void {
  if (refused.length > 0) throw unusable(refused)
  if (lost.length === 0 || allowLoss) return
  throw new QuoinError(
    'CONFLICT',
    `The push would lose: ${lost.join(' ')} Allow it with --allow-loss (allow_loss).`,
    {
      details: { lost: [...lost] },
    },
  )
}

export function unusable(problems: readonly string[]): QuoinError {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new QuoinError('CONFLICT', `The application cannot be released: ${problems[0]}${more}`, {
    details: { problems: problems.slice(0, 1_000) },
  })
}

export function changedMeanwhile(): QuoinError {
  return new QuoinError('CONFLICT', 'The cluster was changed since the plan was made. Plan again.', {
    details: { planned: false },
  })
}

/** INSUFFICIENT_PERMISSIONS: moving a run decides what it does, and a difference says what a run has replied. */
export function checkOptions({ moveWaits, verify }: PushOptions, lacks: (scope: string) => boolean): void {
  if (moveWaits === true && lacks('waits_update'))
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'The scope waits_update is missing: it is needed to move waits.',
    )
  if (verify && lacks('runs_view'))
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'The scope runs_view is missing: it is needed to compare recorded runs.',
    )
}

/** CONFLICT as a push of it. */
export function checkPlan(
  plan: ReleasePlan & Pick<PushOptions, 'state'>,
  { state, allowLoss }: PushOptions,
): void {
  if (plan.state !== state) throw changedMeanwhile()
  refuse(plan, allowLoss)
}

/** Of what is pushed, and how. */
export function digestOf(
  requested: Application,
  { state, allowLoss, moveWaits = false }: PushOptions,
): string {
  return createHash('sha256')
    .update(JSON.stringify([requested, state, allowLoss, moveWaits]))
    .digest('hex')
}
