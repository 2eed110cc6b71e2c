/**
 * Proof of work of forms that visitors without an account may send. While few come, none is asked for. Above a rate the browser looks for a
 * number whose hash begins with so many zero bits: 4,096 hashes on average at first, twice as many each time the rate doubles, 65,536 at
 * most. Checking it costs one signature and one hash. The challenge is signed for its form, and says what it costs and until when it works;
 * nothing is stored until it is solved. The rate is counted by node.
 */
import { hash } from 'node:crypto'
import { QuoinError } from '../../shared/errors.ts'
import { type AccessContext, unixSeconds } from '../access-context.ts'
import { retryContested } from '../retry-on-conflict.ts'
import { takeSingleUse } from '../single-use.ts'

/** Long enough to fill a form in. As long can a sender collect challenges before they are used. */
export const PROOF_SECONDS = 600
const FEWEST_BITS = 12
/** On a slow phone, which tries some 200,000 numbers in a second, 99.7 % of the searches end within two seconds. */
const MOST_BITS = 16
/** For which requests are counted, in parts of a minute. */
const WINDOW_MINUTES = 10

export type ProvenForm = 'signup' | 'forgot'

export interface ProofOfWork {
  /** For a form that is shown now; undefined while none is asked for. */
  challenge(form: ProvenForm): string | undefined
  /**
   * Counts a form that was sent. RATE_LIMITED with `details.proof` unless none is asked for, or it solves a challenge that was not used before,
   * on any node.
   */
  require(form: ProvenForm, solution: string): Promise<void>
}

export function proofOfWork(context: AccessContext): ProofOfWork {
  const { clock, random, secret } = context
  const rate = requestRate(clock)
  const bits = () => neededBits(rate.count(), context.settings.links?.proofAbove ?? Infinity)
  return {
    challenge(form) {
      const needed = bits()
      if (needed === 0) return undefined
      const name = Buffer.alloc(12)
      random(name)
      const text = `${unixSeconds(clock) + PROOF_SECONDS}.${needed}.${name.toString('base64url')}`
      return `${text}.${secret.sign(purposeOf(form), text)}`
    },
    async require(form, solution) {
      rate.add()
      if (bits() === 0) return
      const solved = solvedChallenge(context, form, solution)
      if (
        solved &&
        (await retryContested(context.database, (session) => takeSingleUse(session, 'proof', solved)))
      )
        return
      throw new QuoinError(
        'RATE_LIMITED',
        'Many requests arrive at present, so a browser has to prove some work first. Open the form again.',
        { details: { proof: true } },
      )
    },
  }
}

function purposeOf(form: ProvenForm): string {
  return `proof ${form}`
}

/** The challenge of a right solution: `expiry.bits.name.signature.number`. */
function solvedChallenge(
  { clock, secret }: AccessContext,
  form: ProvenForm,
  solution: string,
): { readonly text: string; readonly expiry: number } | undefined {
  const [expiry = '', bits = '', name = '', signature = '', number = '', more] = solution.split('.')
  if (more !== undefined || number === '' || number.length > 10) return undefined
  const text = `${expiry}.${bits}.${name}`
  if (!secret.verify(purposeOf(form), text, signature) || Number(expiry) <= unixSeconds(clock))
    return undefined
  const found = hash('sha256', `${signature}.${number}`, 'buffer').readUInt32BE(0)
  return Math.clz32(found) >= Number(bits) ? { text: signature, expiry: Number(expiry) } : undefined
}

/** `above`: requests in the window for which nothing is asked; 0 for none. */
export function neededBits(requests: number, above: number): number {
  if (above > 0 && requests <= above) return 0
  const times = Math.max(requests, 1) / Math.max(above, 1)
  return Math.min(MOST_BITS, FEWEST_BITS + Math.floor(Math.log2(times)))
}

/** Requests of the last minutes. */
function requestRate(clock: () => number): { add(): void; count(): number } {
  const minutes = new Map<number, number>()
  const present = () => Math.floor(clock() / 60_000)
  return {
    add() {
      const minute = present()
      for (const known of minutes.keys()) if (known <= minute - WINDOW_MINUTES) minutes.delete(known)
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
    },
    count() {
      const first = present() - WINDOW_MINUTES
      return [...minutes].reduce((sum, [minute, requests]) => (minute > first ? sum + requests : sum), 0)
    },
  }
}
