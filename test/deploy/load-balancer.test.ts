/** What the load balancer of deploy/compose.yaml is told. Whether it does so: load-balancer.torture.test.ts. */
import { expect, test } from 'vitest'
import { balancerSettings } from './balancer-settings.ts'

function section(name: string): readonly string[] {
  const [, lines = ''] = new RegExp(`^${name}\\n((?:  .*\\n)+)`, 'm').exec(balancerSettings()) ?? []
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
  expect(nodes.filter((line) => line.startsWith('server ')).length).toBe(3)
})
