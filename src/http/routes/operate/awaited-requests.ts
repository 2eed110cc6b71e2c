import type { Waits } from '../../../flows/background/waits.ts'
import { isWaitToken } from '../../../flows/run/store-wait.ts'
import type { WaitRecord } from '../../../flows/run/wait-record.ts'
import { awaitedBody, awaitedQuery, receivedSchema } from '../../../shared/api/operate/waits.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** Bytes. It is stored with the run, in a document of at most a megabyte. */
const LARGEST_BODY = 256 * 1024

/** Where other services send what a run waits for. */
export function awaitedRequestRoutes(waits: Waits, clock: Clock): RouteFamily {
  async function admitted(guid: string, token: string | undefined): Promise<WaitRecord> {
    const wait = await waits.waiting(guid)
    if (wait?.kind === 'request' && isWaitToken(token, wait.tokenHash)) return wait
    throw notFound()
  }

  return (app) => {
    app.post(
      '/_hooks/:guid',
      {
        config: { permission: 'public', bodyOptional: true, errors: ['FILE_TOO_BIG', 'NOT_FOUND'] },
        bodyLimit: LARGEST_BODY,
        schema: {
          operationId: 'continueWait',
          summary: 'Send what a run waits for',
          description:
            'The address is given by the block `wait_for_webhook`. It takes one request; unknown, used and expired addresses reply 404.',
          tags: ['Waits'],
          params: guidParams,
          querystring: awaitedQuery,
          body: awaitedBody,
          response: { 200: receivedSchema },
        },
        // Before the body is read: only a caller with the token may send one.
        async onRequest({ params, query }) {
          await admitted(params.guid, query.token)
        },
      },
      async ({ params, query, body }) => {
        const wait = await admitted(params.guid, query.token)
        const gives = { next: 'received', body, at: new Date(clock()) }
        const ended = await waits.end(wait, { gives, logged: { received: true }, by: undefined })
        if (!ended) throw notFound()
        return { received: true } as const
      },
    )
  }
}

function notFound(): QuoinError {
  return new QuoinError('NOT_FOUND', 'No run waits for a request at this address, or not any more.')
}
