import { type AlertFigure, alertFigures } from '../../../../shared/alerts/alert-figures.ts'

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
    label: 'Share of failed requests',
    unit: '%',
    usual: 5,
    cause: { label: 'Run', address: '/operate/runs/failed' },
  },
  dead_letters: {
    label: 'Dead letters',
    unit: 'dead letters',
    usual: 1,
    cause: { label: 'Jobs', address: '/operate/queues?status=dead' },
  },
  queue_age: {
    label: 'Wait of the oldest due job',
    unit: 's',
    usual: 300,
    cause: { label: 'Jobs', address: '/operate/queues?status=waiting' },
  },
  disk_free: { label: 'Free disk', unit: 'MiB', usual: 2_000, cause: undefined },
}

export const figureChoices = alertFigures.map((value) => ({ value, label: figureWords[value].label }))

/** `5 % or more in 5 minutes`. */
export function conditionWords(figure: AlertFigure, threshold: number, minutes: number): string {
  const side = figure === 'disk_free' ? 'or less' : 'or more'
  const time = figure === 'error_share' ? ` in ${minutes} min` : ''
  return `${threshold.toLocaleString()} ${figureWords[figure].unit} ${side}${time}`
}
