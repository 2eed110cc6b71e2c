/** Texts of requests that fail before or without an answer of the server. */
export const apiTexts = {
  unreachable:
    'The server does not answer. Check that it runs and that this machine is connected, then try again.',
  proxyFailed: (status: number) => `Something in front of Quoin answered ${status}. Try again in a moment.`,
  failedWithoutReason: (status: number) => `The server answered ${status} and did not say why.`,
  other: 'Other',
  recordGone: 'This record is no longer there: logs are kept for the days of QUOIN_KEEP_LOGS.',
  cancelled: 'Cancelled.',
} as const
