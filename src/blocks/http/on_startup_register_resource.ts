import {
  MOST_ON_PAGE,
  PAGE_SIZE,
  RESOURCE_TYPE,
  resourceHooks,
  resourceOperations,
  resourceProblem,
} from '../../shared/resource/resource.ts'
import { defineTrigger, PinError } from '../block.ts'
import { endpointUri } from '../endpoint-uri.ts'
import { builderStorage } from '../names.ts'

/** The compiler puts the flows in its place that it stands for, so it never starts one itself: see `shared/resource`. */
export default defineTrigger({
  identifier: RESOURCE_TYPE,
  title: 'API: register resource',
  words: 'API /{uri}',
  summary:
    'Registers the endpoints of a storage: list, read, create, change and remove its documents. They are the flows that a builder would draw; the studio can draw them.',
  on: 'http',
  ends: true,
  in: {
    uri: {
      type: 'value',
      required: true,
      help: 'What follows /api/v1/ in the address, such as tasks: the list is there, and each document at tasks/{guid}. Written here, not wired.',
    },
    storage: {
      type: 'storage',
      required: true,
      help: 'The storage of the documents. Its fields check what is sent and describe the API. Written here, not wired.',
    },
  },
  out: {
    before_create: {
      type: 'flow',
      help: 'Runs before a document is created, with document as it was sent. "Fail" refuses it.',
    },
    before_change: {
      type: 'flow',
      help: 'Runs before a document is changed, with previous, and document as it will be.',
    },
    before_remove: { type: 'flow', help: 'Runs before a document is removed, with previous.' },
    after_write: {
      type: 'flow',
      help: 'Runs after each write, in its transaction and before the reply: with document (empty after a removal) and previous (empty after a creation). What fails here undoes the write.',
    },
    document: { type: 'any', help: 'The document of a hook.' },
    previous: { type: 'any', help: 'The document before the write of a hook.' },
    user: { type: 'any', help: 'The user who writes. Empty for anonymous callers.' },
  },
  settings: {
    operations: {
      kind: 'names',
      help: `What is served: ${resourceOperations.join(', ')}. Empty: all of them.`,
    },
    filters: {
      kind: 'fields',
      help: 'Fields by which a list can be filtered: a list of { name, type }, such as { "name": "status", "type": "text" }. Each is a parameter of the query: ?status=open.',
    },
    orders: {
      kind: 'names',
      help: 'Fields by which a list can be sorted, at most 8: ?order=title, ?order=-title for descending. Each gets an index. Without order: newest first.',
    },
    expand: {
      kind: 'names',
      help: 'References that clients may follow in list and read, such as customer: ?expand=customer adds the document that the field refers to, as _expand.customer. What the rules hide from the client is null.',
    },
    page_size: {
      kind: 'number',
      default: PAGE_SIZE,
      min: 1,
      max: 10_000,
      help: 'Documents of a list for which the client names no limit.',
    },
    max_page_size: {
      kind: 'number',
      default: MOST_ON_PAGE,
      min: 1,
      max: MOST_ON_PAGE,
      help: 'Highest limit that a client may name. A list of 10,000 documents of 1 KB holds the process for some 100 ms: lower it where anyone may list.',
    },
    removal: {
      kind: 'choice',
      options: ['restorable', 'permanent'],
      default: 'restorable',
      help: 'Whether removed documents can be restored.',
    },
    write_scopes: {
      kind: 'names',
      help: 'Scopes for create, change and remove, such as *loggedin. Empty: those of the block, which are those of list and read.',
    },
  },
  listen(inputs, settings) {
    const problem = resourceProblem(settings)
    if (problem) throw new PinError(problem.setting, problem.message)
    builderStorage(inputs.storage)
    const uri = endpointUri(inputs.uri)
    if (uri.includes('...'))
      throw new PinError('uri', 'may not take all that is left: documents are below it')
    if (uri.split('/').includes('{guid}'))
      throw new PinError('uri', 'has {guid} already: documents are at it, as {guid}')
    throw new PinError('uri', 'and storage must be written on the block: they cannot be wired or calculated')
  },
  start: () => Object.fromEntries(resourceHooks.map((hook) => [hook, undefined])),
})
