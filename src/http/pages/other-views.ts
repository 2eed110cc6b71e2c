/** What a page has beside itself, at its own address and for visitors with access: a table as CSV, and events. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayEnter } from '../../access/scopes.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { ShownPage } from '../../shared/pages/page-content.ts'
import { dataTablesOf } from './complete-page.ts'
import { sendCsv } from './csv-export.ts'
import { pageAddress } from './page-address.ts'
import type { PageRoom } from './page-room.ts'
import type { FoundPage } from './page-routes.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { liveTables, zoneOf } from './show-page.ts'

/** Sends it if the address asks for it (`_export=<table>`, `_events=<mark>`); false for the page itself. */
export async function sendOtherView(
  room: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
  { page, blueprint }: FoundPage,
  made: ShownPage,
): Promise<boolean> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const [wanted, since] = [query.get('_export'), query.get('_events')]
  if (wanted === null && since === null) return false
  const { permissions } = room.flows
  const visitor = visitorOf(request)
  const shown = await permittedPage(made, { permissions, rulesOf: room.rulesOf }, visitor)
  if (wanted !== null) {
    const table = dataTablesOf(shown.content).find(({ id, exportable }) => id === wanted && exportable)
    if (!table) throw new QuoinError('NOT_FOUND', 'The page has no such table.')
    const session = permissions.session(room.database.session(), visitor)
    await sendCsv(
      reply,
      { session, cells: { ...room.cells(), timeZone: zoneOf(request, room) }, rulesOf: room.rulesOf },
      table,
      pageAddress(request.url),
    )
    return true
  }
  if (since === null) return false
  const tables = liveTables(shown)
  // A browser that gets this does not ask again.
  if (tables.length === 0) {
    reply.code(204).send()
    return true
  }
  const { accessToken } = request
  room.events.open(reply, {
    tables,
    since,
    ip: request.ip,
    blueprint,
    async mayStay() {
      const identity = accessToken === undefined ? undefined : await room.access.identify(accessToken)
      if (identity?.key?.mayCall(request.method, request.url) === false) return false
      return mayEnter(page.scopes, identity) && (request.identity === undefined || identity !== undefined)
    },
  })
  return true
}
