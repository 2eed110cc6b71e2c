/** What the load balancers of deploy/ are told. Whether they do so: load-balancer.torture.test.ts. */
import { describe, expect, test } from 'vitest'
import { balancerSettings } from './balancer-settings.ts'

describe.each([
  ['compose.yaml', ['server a a:8080', 'server b b:8080', 'server c c:8080']],
  ['compose-cores.yaml', ['server-template node 32 node:8080']],
] as const)('of %s', (file, servers) => {
  function section(name: string): readonly string[] {
    const [, lines = ''] = new RegExp(`^${name}\\n((?:  .*\\n)+)`, 'm').exec(balancerSettings(file)) ?? []
    return lines.split('\n').map((line) => line.trim())
  }

  test('it waits for a health check for a second, and what it answers itself says when to try again', () => {
    const defaults = section('defaults')
    expect(defaults).toContain('timeout check 1s')
    const [refusal = ''] = defaults.filter((line) => line.startsWith('http-error status 503 '))
    expect(refusal).toMatch(/ hdr retry-after 1$/)
    for (const code of [502, 503, 504]) {
      const [line = ''] = defaults.filter((one) => one.startsWith(`http-error status ${code} `))
      const [, body = ''] = / string '(.*)'/.exec(line) ?? []
      expect(JSON.parse(body)).toMatchObject({ error: 'UNAVAILABLE', code })
    }
  })

  test('it ends the sessions of a node that is down, and checks each node', () => {
    const nodes = section('backend nodes')
    expect(nodes).toContain('option httpchk GET /health/ready')
    const [common = ''] = nodes.filter((line) => line.startsWith('default-server '))
    expect(common).toMatch(/ check .* on-marked-down shutdown-sessions /)
    expect(nodes.filter((line) => /^server[ -]/.test(line))).toEqual(servers)
  })
})

test('both are told the same, but for where the nodes are', () => {
  const common = (file: 'compose.yaml' | 'compose-cores.yaml') =>
    balancerSettings(file)
      .split('\n')
      .filter((line) => !/^ +(?:server|server-template|accepted_payload_size|#) ?/.test(line))
      .map((line) => line.replace(/ init-addr .*/, ''))
  expect(common('compose-cores.yaml')).toEqual(common('compose.yaml'))
})
