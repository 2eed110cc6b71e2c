import { adminPassword } from '../../end-to-end/harness.ts'
import { alteringRoutes, breakRoute, notFound } from '../access-matrix/altered-routes.ts'
import { checkMatrix } from '../access-matrix/check-matrix.ts'
import { matrixCaller } from '../access-matrix/matrix-call.ts'
import { deploymentKinds, openDeployment } from '../consistency/deployments.ts'
import { openQuoinHere } from '../open-quoin-here.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const accessMatrix: TorturePart = {
  name: 'access-matrix',
  summary:
    'Every management endpoint as an anonymous caller, with each scope alone and as administrator, as docs/access.md says.',
  run,
  control,
}
export default accessMatrix

async function run({ signal, short, tell }: TortureContext): Promise<TortureResult> {
  let checked = 0
  const failures: string[] = []
  const figures: Record<string, number> = {}
  for (const kind of short ? deploymentKinds.slice(0, 1) : deploymentKinds) {
    signal.throwIfAborted()
    const deployment = await openDeployment(kind)
    const caller = matrixCaller(deployment.address)
    try {
      const result = await checkMatrix({ caller, adminPassword, whole: true, signal })
      checked += result.checked
      failures.push(...result.failures.map((what) => `${kind}: ${what}`))
      Object.assign(figures, result.figures)
      tell(`${kind}: ${result.checked} calls, ${result.failures.length} failures`)
    } finally {
      await caller.close()
      await deployment.close()
    }
  }
  return { checked, failures, figures }
}

/** Each route that is open to others has to be found. */
async function control({ signal }: TortureContext): Promise<TortureResult> {
  const fixture = await alteringRoutes(breakRoute, () => openQuoinHere())
  const caller = matrixCaller(() => fixture.address)
  try {
    const { checked, failures } = await checkMatrix({ caller, adminPassword, whole: false, signal })
    const missed = notFound(failures)
    if (missed.length > 0) throw new Error(`not found: ${missed.join(', ')}`)
    return { checked, failures, figures: {} }
  } finally {
    await caller.close()
    await fixture.close()
  }
}
