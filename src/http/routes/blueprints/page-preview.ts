import type { Flows } from '../../../flows/flows.ts'
import { previewPages } from '../../../flows/trace/preview-run.ts'
import { pagePreviewSchema, previewPageSchema } from '../../../shared/api/blueprints/page-previews.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { PageServices } from '../../pages/open-page-services.ts'
import { previewHtml } from '../../pages/preview-html.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** Previews at once on a node: each compiles a blueprint, and on SQLite one that writes holds the writer. */
const MOST = 4
/** Characters of a page: more is not of use beside a canvas. */
const MOST_CHARACTERS = 2_000_000

/** What a page of staged blocks would show. Needs all that is needed to save and deploy these blocks. */
export function pagePreviewRoutes(flows: Flows, services: PageServices): RouteFamily {
  const preview = previewPages(flows)
  let underWay = 0
  return (app) => {
    app.post(
      '/blueprints/:guid/preview',
      {
        config: {
          permission: 'blueprints_update',
          alsoNeeds: ['blueprintactions_view', 'blueprintactions_update'],
          errors: ['UNAVAILABLE', 'VALIDATION_FAILED'],
        },
        schema: {
          operationId: 'previewPage',
          summary: 'Preview a page of staged blocks',
          description:
            'Runs the flow of a page as it would be if all staged changes were deployed, for the caller, and gives its HTML. Reads stored documents; what it writes is undone. Blocks with external effects fail. Blocks that cannot run, and parts of the page that fail, are left out, and `failure` names the first. The HTML has no form that can be sent. 404 if the block is not a page, 422 for blocks that cannot run.',
          tags: ['Blueprints'],
          params: guidParams,
          body: previewPageSchema,
          response: { 200: pagePreviewSchema },
        },
      },
      async (request) => {
        if (underWay >= MOST)
          throw new QuoinError('UNAVAILABLE', `This node already makes ${MOST} previews. Try again.`)
        underWay += 1
        try {
          const { page, parameters = {}, query = '', theme = 'auto' } = request.body
          const { user, scopes } = callerOf(request)
          const asked = { blueprint: request.params.guid, page, parameters, query, caller: { user, scopes } }
          const ran = await preview(asked)
          const shown = ran.reply?.page
          if (shown?.kind !== 'show') return { html: null, ...outcome(ran.failure, shown?.to) }
          const { title, language } = ran.page.listening
          const html = await previewHtml(services, request, { shown, title, language, url: ran.url, theme })
          if (html.length <= MOST_CHARACTERS) return { html, ...outcome(ran.failure, undefined) }
          const message = `The page has ${html.length.toLocaleString('en-US')} characters; a preview shows at most ${MOST_CHARACTERS.toLocaleString('en-US')}. Show fewer rows.`
          return { html: null, ...outcome({ message }, undefined) }
        } finally {
          underWay -= 1
        }
      },
    )
  }
}

interface Failure {
  readonly message: string
  readonly block?: string | undefined
  readonly pin?: string | undefined
}

function outcome(failure: Failure | undefined, to: string | undefined) {
  const { message, block = null, pin = null } = failure ?? {}
  return { redirect: to ?? null, failure: message === undefined ? null : { message, block, pin } }
}
