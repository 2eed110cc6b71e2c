/** The bundle of a published package. */
export const packedFolder: string
/** Where the bundle of exactly these sources is, or would be. */
export function programFolder(): string
