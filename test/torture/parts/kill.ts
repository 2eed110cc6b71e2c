import { setTimeout as wait } from 'node:timers/promises'
import {
  type Deployment,
  type DeploymentKind,
  deploymentKinds,
  openDeployment,
} from '../consistency/deployments.ts'
import { answersEarly, lying } from '../consistency/dishonest-transport.ts'
import { runConsistency } from '../consistency/run-consistency.ts'
import { httpTransport } from '../consistency/transport.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const CLIENTS = 12
/** Of each deployment, however slow the machine is. */
const LEAST_KILLS = 2
const CONTROL_KILLS = 10

const kill: TorturePart = {
  name: 'kill',
  summary: 'Nothing acknowledged is lost and no job forgotten when processes are ended with kill -9.',
  run,
  control,
}
export default kill

async function run(context: TortureContext): Promise<TortureResult> {
  let checked = 0
  const failures: string[] = []
  const figures: Record<string, number | string> = {}
  for (const kind of deploymentKinds) {
    const late = performance.now() + (1000 * context.seconds) / deploymentKinds.length
    const result = await killing(
      kind,
      context,
      ({ kills }) => kills < LEAST_KILLS || performance.now() < late,
    )
    checked += result.checked
    failures.push(...result.failures.map((what) => `${kind}: ${what}`))
    figures[`${kind}: kills`] = result.kills
    for (const [name, value] of Object.entries(result.figures)) figures[`${kind}: ${name}`] = value
    context.tell(
      `${kind}: ${result.kills} kills, ${result.checked} checks, ${result.failures.length} failures`,
    )
  }
  return { checked, failures, figures }
}

/** Until the answer that came too early is found. */
async function control(context: TortureContext): Promise<TortureResult> {
  for (let kills = 1; kills <= CONTROL_KILLS; kills++) {
    const result = await killing('one process', context, (deployment) => deployment.kills < 1, true)
    if (result.failures.length > 0) return result
  }
  return { checked: CONTROL_KILLS, failures: [], figures: {} }
}

async function killing(
  kind: DeploymentKind,
  { random, signal }: TortureContext,
  more: (deployment: Deployment) => boolean,
  early = false,
): Promise<TortureResult & { readonly kills: number }> {
  const deployment = await openDeployment(kind)
  try {
    const lie = answersEarly(() => deployment.kills)
    const connect = () => {
      const honest = httpTransport(deployment.address)
      return early ? lying(honest, lie, random) : honest
    }
    const result = await runConsistency({
      storm: 'storm',
      connect,
      token: () => deployment.token,
      clients: CLIENTS,
      random,
      more: () => false,
      cuts: 0,
      oneSnapshot: deployment.oneSnapshot,
      async meanwhile() {
        do {
          await wait(random.between(300, 2_000))
          await deployment.killOne(random)
        } while (!signal.aborted && more(deployment))
        await wait(500)
      },
    })
    const { kills } = deployment
    const damage = (await deployment.damage()).map((what) => `the database is damaged: ${what}`)
    return { ...result, checked: result.checked + 1, failures: [...result.failures, ...damage], kills }
  } finally {
    await deployment.close()
  }
}
