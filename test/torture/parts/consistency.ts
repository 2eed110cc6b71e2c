import { type DeploymentKind, deploymentKinds, openDeployment } from '../consistency/deployments.ts'
import { lies, lying } from '../consistency/dishonest-transport.ts'
import { type ConsistencyOptions, runConsistency } from '../consistency/run-consistency.ts'
import { httpTransport } from '../consistency/transport.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const CLIENTS = 12
/** Of clients; however slow the machine is. A step is up to three calls. */
const LEAST_STEPS = 400

const consistency: TorturePart = {
  name: 'consistency',
  summary: 'Concurrent clients of one process and of two PostgreSQL nodes are told one history.',
  run,
  control,
}
export default consistency

async function run(context: TortureContext): Promise<TortureResult> {
  let checked = 0
  const failures: string[] = []
  const figures: Record<string, number> = {}
  for (const kind of deploymentKinds) {
    const ms = (1000 * context.seconds) / deploymentKinds.length
    const result = await storm(kind, context, ms)
    checked += result.checked
    failures.push(...result.failures.map((what) => `${kind}: ${what}`))
    for (const [name, value] of Object.entries(result.figures)) figures[`${kind}: ${name}`] = value
    context.tell(`${kind}: ${JSON.stringify(result.figures)}, ${result.failures.length} failures`)
  }
  return { checked, failures, figures }
}

async function storm(kind: DeploymentKind, { random, signal }: TortureContext, ms: number) {
  const deployment = await openDeployment(kind)
  try {
    const late = performance.now() + ms
    let steps = 0
    return await runConsistency({
      storm: 'storm',
      connect: () => httpTransport(deployment.address),
      token: () => deployment.token,
      clients: CLIENTS,
      random,
      more: () => !signal.aborted && (steps++ < LEAST_STEPS || performance.now() < late),
      cuts: 0.01,
      oneSnapshot: deployment.oneSnapshot,
    })
  } finally {
    await deployment.close()
  }
}

/** Each lie has to be found. */
async function control({ random, signal, tell }: TortureContext): Promise<TortureResult> {
  const deployment = await openDeployment('one process')
  const found: string[] = []
  const missed: string[] = []
  try {
    for (const [place, [name, lie]] of Object.entries(lies).entries()) {
      let steps = 0
      const one = lie()
      const options: ConsistencyOptions = {
        storm: `lie${place}`,
        connect: () => lying(httpTransport(deployment.address), one, random),
        token: () => deployment.token,
        clients: CLIENTS,
        random,
        more: () => !signal.aborted && steps++ < LEAST_STEPS,
        cuts: 0,
        oneSnapshot: true,
      }
      const { failures } = await runConsistency(options)
      const [first] = failures
      if (first === undefined) missed.push(name)
      else found.push(`${name}: ${first}`)
      tell(`${name}: ${first ?? 'not found'}`)
    }
  } finally {
    await deployment.close()
  }
  if (missed.length > 0) throw new Error(`not found: ${missed.join(', ')}`)
  return { checked: found.length, failures: found, figures: {} }
}
