/** What plans and pushes give. */
import type { ReleasePlan } from './plan-release.ts'
import type { PreparedField } from './renamed-fields.ts'
import type { VerifiedBlueprint } from './verified-push.ts'

export interface ApplicationPlan extends ReleasePlan {
  readonly application: string
  /** The number that the release will have. */
  readonly release: number
  /** Of the cluster, as far as the plan depends on it: a push of another state is refused. */
  readonly state: string
}

export interface Released extends ApplicationPlan {
  /** Of what follows a release that is live: first documents. */
  readonly problems: readonly string[]
  /** Runs that waited and continue on this release. */
  readonly movedWaits: number
  /** Of a push that asks for it. */
  readonly verified?: readonly VerifiedBlueprint[]
}

/** The old release serves while documents follow: the same push goes on when they have. */
export interface Preparing {
  readonly application: string
  readonly release: number
  readonly preparing: readonly PreparedField[]
}
