export function isSupportedNode(version: string): boolean
export function unsupportedNode(version: string): string
