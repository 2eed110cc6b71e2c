/** Pages are counted as endpoints are: each by its own address, and how many of them are open and hear of changes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openAssets } from '../../records/assets/assets.ts'
import { openSigningSecret } from '../../records/secrets/signing-secret.ts'
import { openAssetFiles } from '../../storage/assets/asset-files.ts'
import { openIdempotency } from '../endpoints/endpoint-idempotency.ts'
import { openChangeFeed } from '../live/streams.ts'
import { type Metrics, openMetrics } from '../metrics/metrics.ts'
import { openServer, type Server } from '../server/server.ts'
import { openPageServices, type PageServices } from './open-page-services.ts'
import { pageHandler } from './page-handler.ts'

let quoin: TestQuoin
let metrics: Metrics
let pages: PageServices
const waits = { tasks: async () => ({ records: [], total: 0, next: undefined }) }
let server: Server
let address: string
let files: string

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.install('Wines', {
    wines: { type: 'storage', fields: { storage: 'wines' } },
    page: { type: 'state_page', in: { url: 'wines/{year}', title: 'Wines' }, scopes: ['*public'] },
    table: {
      type: 'state_advanced_datatable',
      in: { storage: '@wines.storage', columns: ['name'], table_id: 'wines' },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  })
  const { access, flows, runs, database } = quoin.quoin
  files = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const assets = await openAssets(flows.records, await openAssetFiles(files, flows.newGuid))
  metrics = openMetrics({
    ...{ flows, runs, version: '1.2.3' },
    queues: () => [],
    database: database.capabilities.figures,
  })
  pages = await openPageServices({
    access,
    flows,
    runs,
    database,
    assets,
    clock: Date.now,
    random: (bytes) => void crypto.getRandomValues(bytes),
    secret: await openSigningSecret(database, (bytes) => void crypto.getRandomValues(bytes)),
    idempotency: await openIdempotency(database, Date.now),
    rulesOf: async () => [],
    siteName: '',
    news: openChangeFeed(database, flows.live, () => []),
  })
  metrics.countStreams(() => pages.events.size, { size: 0, memory: { dropped: 0, events: 0 } })
  server = await openServer({
    access,
    clock: Date.now,
    version: '1.2.3',
    settings: {
      host: '127.0.0.1',
      port: 0,
      bodyLimit: 10_000,
      corsOrigins: [],
      rateLimit: 1000,
      connections: 0,
      waitingBytes: 0,
      environment: 'production',
      trustProxy: false,
      logLevel: 'silent',
    },
    api: [],
    root: [pageHandler({ ...pages, waits, pushes: { tasks: async () => [] } })],
    finished: metrics.finished,
  })
  address = await server.listen()
})
afterAll(async () => {
  await server?.close()
  metrics?.close()
  await quoin?.close()
  await rm(files, { recursive: true, force: true })
})

test('a page is counted by its address, whatever is asked of it, and never by what visitors make up', async () => {
  for (const path of ['wines/2019', 'wines/2020?wines.q=red', 'nothing/here'])
    await (await fetch(`${address}/${path}`)).text()
  const text = await metrics.text()
  expect(text).toContain('quoin_http_requests_total{method="GET",route="/wines/{year}",status="2xx"} 2')
  expect(text).toContain('quoin_http_requests_total{method="GET",route="/*",status="4xx"} 1')
  // Not the year alone, which a count of bytes can have.
  expect(text).not.toContain('wines/2019')
})

test('open streams are counted, and do not count as slow pages', async () => {
  expect(await metrics.text()).toContain('quoin_page_streams_open 0')
  const ending = new AbortController()
  const stream = await fetch(`${address}/wines/2019?_events=`, { signal: ending.signal })
  await expect.poll(() => metrics.text()).toContain('quoin_page_streams_open 1')
  ending.abort()
  await stream.text().catch(() => undefined)
  await expect.poll(() => metrics.text()).toContain('quoin_page_streams_open 0')
  expect(await metrics.text()).toContain('{method="GET",route="/wines/{year}",status="2xx"} 2')
})
