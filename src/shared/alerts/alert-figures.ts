export const alertFigures = ['error_share', 'dead_letters', 'queue_age', 'disk_free'] as const
export type AlertFigure = (typeof alertFigures)[number]

/** Rules of a cluster. */
export const MAX_ALERTS = 50
