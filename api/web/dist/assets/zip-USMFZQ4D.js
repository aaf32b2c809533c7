import{a as r}from"./chunk-JSHGRRT5.js";function o(i){return new Blob([r(i)],{type:"application/zip"})}export{o as archive};
