import type { Quoin } from '../quoin.ts'

/** What a node prints when it is ready: where it is, how to sign in, and one line to try. */
export function greeting(quoin: Quoin, address: string, data: string, milliseconds: number): string {
  const { administrator } = quoin
  const lines = [
    '',
    `  Quoin ${quoin.version} is ready (${quoin.storage.engine} in ${data}, ${milliseconds} ms)`,
    '',
  ]
  lines.push(`    API      ${address}/api/v1`, `    Docs     ${address}/docs`)
  if (administrator?.password !== undefined) {
    lines.push(
      `    Sign in  ${administrator.username} / ${administrator.password}   (shown only now: keep it)`,
    )
  } else if (administrator) {
    lines.push(`    Sign in  ${administrator.username} / the password from QUOIN_ADMIN_PASSWORD`)
  }
  const endpoint = [...quoin.engine.live.table().blueprints.values()]
    .flatMap(({ compiled }) => compiled.endpoints)
    .find(({ listening, scopes }) => {
      const open = scopes.length === 0 || scopes.includes('*public')
      return open && listening.method === 'GET' && !listening.uri.includes('{')
    })
  lines.push('', '  Try it:', '', `    curl ${address}/api/v1/${endpoint?.listening.uri ?? 'info'}`, '')
  return lines.join('\n')
}
