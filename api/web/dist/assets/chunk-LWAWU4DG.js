var e="presswork.key";function s(){try{return sessionStorage.getItem(e)??""}catch{return""}}function r(t){try{t?sessionStorage.setItem(e,t):sessionStorage.removeItem(e)}catch{}}export{s as a,r as b};
