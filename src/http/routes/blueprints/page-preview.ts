import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { fileSchemaNames, fileSchemas } from '../../../applications/file-schemas.ts'
import type { Flows } from '../../../flows/flows.ts'
import { previewPages } from '../../../flows/trace/preview-run.ts'
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import { pagePreviewSchema, previewPageSchema } from '../../../shared/api/blueprints/page-previews.ts'
import { anyJson, guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { ShownPage } from '../../../shared/pages/page-content.ts'
import { fillPage } from '../../pages/fill-page.ts'
import type { PageServices } from '../../pages/open-page-services.ts'
import { pageAddress } from '../../pages/page-origin.ts'
import { permittedPage, visitorOf } from '../../pages/permitted-page.ts'
import { localeOf, userOf, zoneOf } from '../../pages/show-page.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { deployerOf } from '../search-reply.ts'

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
          const { lacks } = deployerOf(request)
          const caller = { user, scopes }
          const ran = await preview({
            blueprint: request.params.guid,
            page,
            parameters,
            query,
            caller,
            lacks,
          })
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

/** What `$schema` of a file of an application names. Public: an editor asks without a token, and they say nothing of a cluster. */
export function fileSchemaRoutes(blocks: () => readonly BlockDescription[]): RouteFamily {
  let made:
    | { readonly of: readonly BlockDescription[]; readonly schemas: ReturnType<typeof fileSchemas> }
    | undefined
  return (app) => {
    app.get(
      '/schemas/:name.json',
      {
        config: { permission: 'public' },
        schema: {
          operationId: 'readFileSchema',
          summary: 'JSON schema of a file of an application',
          description: 'For editors: `$schema` of each file that `quoin pull` writes names one.',
          tags: ['Applications'],
          params: Type.Object({ name: Type.Enum([...fileSchemaNames]) }),
          response: { 200: anyJson('A JSON schema.') },
        },
      },
      (request) => {
        const present = blocks()
        if (made?.of !== present) made = { of: present, schemas: fileSchemas(present) }
        return made.schemas[request.params.name]
      },
    )
  }
}

/**
 * A page as HTML for the preview of the studio: as `show-page.ts` makes it, with the rows that the viewer may see, but
 * without forms that could be sent (no tokens), without cookies, notices and live changes.
 */
interface PreviewedPage {
  readonly shown: ShownPage
  /** When the flow names none. */
  readonly title: string
  readonly language?: string | undefined
  /** Path and query. */
  readonly url: string
  readonly theme: 'light' | 'dark' | 'auto'
}

async function previewHtml(
  services: PageServices,
  request: FastifyRequest,
  { shown: made, title, language, url, theme }: PreviewedPage,
): Promise<string> {
  const { permissions } = services.flows
  const shown = await permittedPage(made, { permissions, rulesOf: services.rulesOf }, visitorOf(request))
  const locale = language ?? localeOf(request)
  const address = pageAddress(url)
  const hidden = () => []
  const timeZone = zoneOf(request, services)
  const making = { hidden, ticket: undefined, refused: undefined }
  const filling = { ...making, shown, address, locale, timeZone, namesBlocks: true }
  const content = await fillPage(services, request, filling)
  return services.pages.render({
    title: shown.title ?? title,
    content,
    template: shown.template === undefined ? undefined : await services.templates.find(shown.template),
    locale,
    language,
    timeZone,
    user: userOf(request.identity?.user),
    url: address.href,
    hidden: {},
    theme,
    notice: undefined,
    events: undefined,
    noIndex: false,
    still: true,
  })
}
