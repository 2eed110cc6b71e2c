/** How far back figures over time go. The studio loads this list, so it stands apart from the schemas of the API. */
export const figureRanges = ['hour', 'day', 'week'] as const
export type FigureRange = (typeof figureRanges)[number]
