import { type AlertFigure, alertFigures } from '../../../../shared/alerts/alert-figures.ts'
import { alertsTexts } from '../../../texts/alerts.ts'

interface FigureWords {
  readonly label: string
  /** Of the threshold. */
  readonly unit: string
  readonly usual: number
  /** Where its cause is found; undefined where no run is to blame. */
  readonly cause: { readonly label: string; readonly address: string } | undefined
}

export const figureWords: Readonly<Record<AlertFigure, FigureWords>> = {
  error_share: {
    label: alertsTexts.shareOfFailedRequests,
    unit: '%',
    usual: 5,
    cause: { label: alertsTexts.run, address: '/operate/runs/failed' },
  },
  dead_letters: {
    label: alertsTexts.deadLetters,
    unit: alertsTexts.deadLettersLabel,
    usual: 1,
    cause: { label: alertsTexts.jobs, address: '/operate/queues?status=dead' },
  },
  queue_age: {
    label: alertsTexts.oldestWait,
    unit: alertsTexts.s,
    usual: 300,
    cause: { label: alertsTexts.jobs, address: '/operate/queues?status=waiting' },
  },
  disk_free: { label: alertsTexts.freeDisk, unit: alertsTexts.mib, usual: 2_000, cause: undefined },
}

export const figureChoices = alertFigures.map((value) => ({ value, label: figureWords[value].label }))

/** `5 % or more in 5 minutes`. */
export function conditionLabels(figure: AlertFigure, threshold: number, minutes: number): string {
  const side = figure === 'disk_free' ? alertsTexts.orLess : alertsTexts.orMore
  const time = figure === 'error_share' ? alertsTexts.inMin(minutes) : ''
  return `${threshold.toLocaleString()} ${figureWords[figure].unit} ${side}${time}`
}
