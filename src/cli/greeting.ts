import type { Quoin } from '../quoin/quoin.ts'
import type { ClusterNode } from '../storage/cluster.ts'

export interface Started {
  readonly address: string
  /** Folder of the embedded database; undefined where the database is a server. */
  readonly data: string | undefined
  /** What it is for: in production nothing is open that was not opened. */
  readonly environment: string
  readonly milliseconds: number
}

/** What a node prints when it is ready: where it is, how to sign in, and one line to try. */
export function greeting(
  quoin: Quoin,
  nodes: readonly ClusterNode[] | undefined,
  { address, data, environment, milliseconds }: Started,
): string {
  const { administrator } = quoin
  const { engine } = quoin.database.capabilities
  const place = data === undefined ? clusterWords(engine, nodes ?? []) : `${engine} in ${data}`
  const lines = ['', `  Quoin ${quoin.version} is ready (${place}, ${environment}, ${milliseconds} ms)`, '']
  lines.push(
    `    Studio   ${address}/studio`,
    `    API      ${address}/api/v1`,
    `    Docs     ${address}/docs`,
  )
  if (administrator?.password !== undefined) {
    lines.push(
      `    Sign in  ${administrator.username} / ${administrator.password}   (shown once, save it now)`,
    )
  } else if (administrator) {
    lines.push(`    Sign in  ${administrator.username} / the password from QUOIN_ADMIN_PASSWORD`)
  }
  const endpoint = [...quoin.flows.live.table().blueprints.values()]
    .flatMap(({ compiled }) => compiled.endpoints)
    .find(({ listening, scopes }) => {
      const open = scopes.length === 0 || scopes.includes('*public')
      return open && listening.method === 'GET' && !listening.uri.includes('{')
    })
  lines.push('', '  Try it:', '', `    curl ${address}/api/v1/${endpoint?.listening.uri ?? 'info'}`, '')
  return lines.join('\n')
}

function clusterWords(engine: string, nodes: readonly ClusterNode[]): string {
  const live = nodes.filter((node) => node.live)
  const name = live.find((node) => node.self)?.name ?? ''
  return `${engine}, node ${name}, ${live.length === 1 ? 'the only one' : `one of ${live.length}`}`
}
