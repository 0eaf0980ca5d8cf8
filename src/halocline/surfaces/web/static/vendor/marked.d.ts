export const Marked: any
