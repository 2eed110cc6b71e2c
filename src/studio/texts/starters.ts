/** Titles and summaries of the blueprints to start from. */
export const startersTexts = {
  hello: 'Hello',
  helloSummary: 'The smallest endpoint: a parameter, a default, a reply.',
  guestbook: 'Guestbook',
  guestbookSummary: 'Stores a document and lists the newest.',
  receipts: 'Background work of a request',
  receiptsSummary: 'Replies at once and does the rest in a queue, safe against crashes.',
  heartbeat: 'On a schedule',
  heartbeatSummary: 'A schedule that writes a document every minute.',
  cities: 'Search over cities',
  citiesSummary: 'Free text, filters, order and pages over the 1,000 largest cities, which are included.',
} as const
