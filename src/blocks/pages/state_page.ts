import { accountPathsListed } from '../../shared/account-paths.ts'
import { defineTrigger, PinError } from '../block.ts'
import { pageUri } from './page-pins.ts'

/** As in page templates. */
const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/

export default defineTrigger({
  identifier: 'state_page',
  title: 'Page',
  words: 'Page /{url}',
  summary:
    'Registers a page: each visit starts the flow, which replies with "Show page". With scopes on the block, only users who hold one of them can open the page; others are asked to sign in.',
  on: 'page',
  in: {
    url: {
      type: 'value',
      required: true,
      help: `The address after the host: tasks, tasks/{guid}, or / for the start page. The addresses of account pages (${accountPathsListed}) replace those of Quoin; to deploy one of them, in any case of letters, a user needs the scope blueprints_account_pages.`,
    },
    title: { type: 'value', default: '', help: 'Title of the page, unless "Show page" sets one.' },
  },
  out: {
    connection: { type: 'connection', help: 'The request: read its parameters from it.' },
    params: {
      type: 'object',
      help: 'Parameters of path and query. The path has precedence.',
    },
  },
  settings: {
    language: {
      kind: 'text',
      default: '',
      help: 'Language that the page is written in, such as en or de-AT. What Quoin says on it, numbers and dates follow. Empty: that of the template, else the one that the visitor asks for.',
    },
    rate_limit: {
      kind: 'number',
      min: 0.1,
      max: 100_000,
      help: 'Requests a second from one address. Empty: the limit of the cluster.',
    },
  },
  check: (_inputs, { language }) => {
    if (language !== undefined && language !== '' && !LANGUAGE.test(language))
      throw new PinError('language', 'must be a language tag such as en or de-AT')
  },
  listen: (inputs, settings) => ({
    uri: pageUri(inputs.url),
    title: inputs.title,
    rateLimit: settings.rate_limit,
    ...(settings.language !== '' && { language: settings.language }),
  }),
  start: ({ request }) => ({ connection: request, params: { ...request.query, ...request.path } }),
})
